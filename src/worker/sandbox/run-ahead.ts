import type { CleanMemory } from './clean-memory.ts'
import { FRESH_MS, MOST_AHEAD_CHARS, type HostCall, type PhaseJob } from './phase-link.ts'
import { runJob } from './run-job.ts'
import type { AheadResult, LoggedLine, PhaseEnding } from './thread.ts'

/** The phase that follows, if what came out of this one makes it likely that it is asked for. */
export function jobThatFollows(job: PhaseJob, ending: PhaseEnding, now: number): PhaseJob | undefined {
  if (job.then === undefined || !('outcome' in ending) || ending.outcome.kind !== 'returned') return undefined
  const { workflowId, scriptId, code, operations, mutations, handler, limits } = job
  const { phase, seed, orElse, foreseen, then } = job.then
  const value = ending.outcome.value ?? orElse
  if (value === undefined || value.length > MOST_AHEAD_CHARS) return undefined
  if (phase === 'mutate' && !reservesSomething(value)) return undefined
  const next: PhaseJob = { workflowId, scriptId, code, operations, handler, now, args: [value], phase, seed }
  if (foreseen !== undefined) next.foreseen = foreseen
  if (then !== undefined) next.then = then
  if (mutations !== undefined) next.mutations = mutations
  if (limits !== undefined) next.limits = limits
  return next
}

/** Without a reservation nothing follows. Told from the text: a guess is enough here. */
const reservesSomething = (text: string): boolean => /"ids":\s*\[\s*"/.test(text)

/** Runs phases that nobody has asked for yet, each with what came of the one before. What they say is kept until somebody asks. */
export async function runAhead(memory: CleanMemory, first: PhaseJob): Promise<AheadResult[]> {
  const results: AheadResult[] = []
  let job: PhaseJob | undefined = first
  while (job !== undefined) {
    const startedAt = performance.now()
    const result = await runOne(memory, job)
    const tookMs = performance.now() - startedAt
    results.push(result)
    if (result.ending === null || tookMs > FRESH_MS) break
    job = jobThatFollows(job, result.ending, job.now + Math.round(tookMs))
  }
  return results
}

async function runOne(memory: CleanMemory, job: PhaseJob): Promise<AheadResult> {
  const logs: LoggedLine[] = []
  const said: { lastCall?: HostCall; asked: boolean; tookForeseen: boolean } = { asked: false, tookForeseen: false }
  const outcome = await runJob(memory, job, {
    scriptLoaded: () => undefined,
    log: (level, message) => logs.push({ level, message }),
    send: () => {
      said.asked = true
    },
    receive: () => Promise.resolve({ id: 0, reply: { kind: 'end' }, now: job.now }),
    tookForeseen: () => {
      said.tookForeseen = true
    },
    last: (call) => {
      said.lastCall = call
    },
  })
  if (said.asked) return { ending: null, logs: [], tookForeseen: false }
  const ending = said.lastCall === undefined ? { outcome } : { lastCall: said.lastCall }
  return { ending, logs, tookForeseen: said.tookForeseen }
}
