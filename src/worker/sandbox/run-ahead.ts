import type { CleanMemory } from './clean-memory.ts'
import type { HostCall, PhaseJob } from './phase-link.ts'
import { runJob } from './run-job.ts'
import type { LoggedLine, PhaseEnding } from './thread.ts'

/** It is kept until the phase is asked for, or another. */
const MOST_CHARS = 64 * 1024

export interface AheadResult {
  /** Null when it wanted something that only its host can tell: then it is run again, in its turn. */
  ending: PhaseEnding | null
  logs: readonly LoggedLine[]
}

/** The phase that follows, if what came out of this one makes it likely that it is asked for. */
export function jobThatFollows(job: PhaseJob, ending: PhaseEnding, now: number): PhaseJob | undefined {
  const { then: phase, thenSeed: seed, workflowId, scriptId, code, operations, mutations, handler } = job
  if (phase === undefined || seed === undefined) return undefined
  if (!('outcome' in ending) || ending.outcome.kind !== 'returned') return undefined
  const { value } = ending.outcome
  if (value === undefined || value.length > MOST_CHARS || !reservesSomething(value)) return undefined
  return {
    ...{ workflowId, scriptId, code, operations, handler, now, phase, seed, args: [value] },
    ...(mutations === undefined ? {} : { mutations }),
    ...(job.limits === undefined ? {} : { limits: job.limits }),
  }
}

/** Without a reservation nothing follows. Told from the text: a guess is enough here. */
const reservesSomething = (text: string): boolean => /"ids":\s*\[\s*"/.test(text)

/** Runs a phase that nobody has asked for yet. What it says is kept until somebody does. */
export async function runAhead(memory: CleanMemory, job: PhaseJob): Promise<AheadResult> {
  const logs: LoggedLine[] = []
  const said: { lastCall?: HostCall; asked: boolean } = { asked: false }
  const outcome = await runJob(memory, job, {
    scriptLoaded: () => undefined,
    log: (level, message) => logs.push({ level, message }),
    send: () => {
      said.asked = true
    },
    receive: () => Promise.resolve({ id: 0, reply: { kind: 'end' }, now: job.now }),
    last: (call) => {
      said.lastCall = call
    },
  })
  if (said.asked) return { ending: null, logs: [] }
  return { ending: said.lastCall === undefined ? { outcome } : { lastCall: said.lastCall }, logs }
}
