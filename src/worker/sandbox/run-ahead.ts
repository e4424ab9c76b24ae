import type { CleanMemory } from './clean-memory.ts'
import { FRESH_MS, MOST_HELD_CHARS, type HostCall, type PhaseJob } from './phase-link.ts'
import { runJob } from './run-job.ts'
import type { AheadResult, LoggedLine, PhaseEnding } from './thread.ts'
import type { PhaseAhead, WalkAhead } from './walk-ahead.ts'

const LARGEST_LOT = 8
/** What takes longer than this is not kept waiting for what comes after it. */
const SLOW_MS = 4
const GOLDEN = 0.618_033_988_75
/** Longer results of one phase are not kept for somebody who may never ask. */
const LARGEST_CHARS = 2 ** 20

export interface AheadRun {
  memory: CleanMemory
  /** The phase that was asked for. */
  job: PhaseJob
  walk: WalkAhead
  /** What follows it. */
  first: PhaseAhead
  /** The time at which it was over, and how long it took. */
  now: number
  tookMs: number
  post(results: readonly AheadResult[], isLast: boolean): void
}

/** Runs phases that nobody has asked for yet, each with what came of the one before. What they say is kept until somebody asks. */
export async function runAhead({ memory, job, walk, first, now, tookMs, post }: AheadRun): Promise<void> {
  const startedAt = performance.now()
  let isSlow = tookMs > SLOW_MS
  let chars = 0
  let results: AheadResult[] = []
  let ahead: PhaseAhead | undefined = first
  let parts = 0
  for (let nth = 1; ahead !== undefined; nth += 1) {
    const began = performance.now()
    const result = await runOne(memory, jobAhead(job, ahead, nth, now + Math.floor(began - startedAt)))
    results.push(result)
    const { ending } = result
    const ended = performance.now()
    isSlow ||= ended - began > SLOW_MS
    chars += charsOf(result)
    if (ending === null || ended - startedAt > FRESH_MS || chars > MOST_HELD_CHARS) break
    const before: PhaseAhead['phase'] = ahead.phase
    ahead = walk.after(before, ending)
    if (ahead === undefined) continue
    if (isMutationDue(before, ahead)) parts += 1
    else if (!isSlow) continue
    // Whoever asks has work for a while: the first as soon as it can be, and of what follows more and more at once.
    if (isSlow || isLotFull(parts)) {
      post(results, false)
      results = []
    }
  }
  post(results, true)
}

/** After one, two more, four more, and then every eight. */
const isLotFull = (parts: number): boolean =>
  parts < LARGEST_LOT ? Number.isInteger(Math.log2(parts + 1)) : (parts + 1) % LARGEST_LOT === 0

/** Between these two the engine goes to the disk and to the outside world. */
const isMutationDue = (before: PhaseAhead['phase'], { phase }: PhaseAhead): boolean =>
  phase === 'next' || (phase === 'prepare' && before !== 'next')

/** Everything in it that a script can make long. */
const charsOf = ({ ending, logs, noted = [] }: AheadResult): number => {
  let chars = 0
  if (ending !== null && 'lastCall' in ending) chars += ending.lastCall.args.length
  else if (ending?.outcome.kind === 'returned') chars += ending.outcome.value?.length ?? 0
  for (const { message } of logs) chars += message.length
  for (const { args } of noted) chars += args.length
  return chars
}

function jobAhead(job: PhaseJob, { phase, args, foreseen }: PhaseAhead, nth: number, now: number): PhaseJob {
  const { workflowId, scriptId, code, operations, mutations, handler, limits, then } = job
  const [one = 0, other = 0] = then?.seed ?? []
  const ahead: PhaseJob = {
    workflowId,
    scriptId,
    code,
    operations,
    handler,
    now,
    args,
    phase,
    seed: [one, (other + nth * GOLDEN) % 1],
  }
  if (foreseen !== undefined) ahead.foreseen = foreseen
  if (mutations !== undefined) ahead.mutations = mutations
  if (limits !== undefined) ahead.limits = limits
  if (phase === 'next' && then?.publishing !== undefined) ahead.publishing = then.publishing
  return ahead
}

async function runOne(memory: CleanMemory, job: PhaseJob): Promise<AheadResult> {
  const logs: LoggedLine[] = []
  const noted: HostCall[] = []
  const said: { lastCall?: HostCall; mustWait: boolean; tookForeseen: boolean; sawTime?: number } = {
    mustWait: false,
    tookForeseen: false,
  }
  const outcome = await runJob(memory, job, {
    scriptLoaded: () => undefined,
    log: (level, message) => logs.push({ level, message }),
    send: () => {
      said.mustWait = true
    },
    receive: () => Promise.resolve({ id: 0, reply: { kind: 'end' }, now: job.now }),
    tookForeseen: () => {
      said.tookForeseen = true
    },
    note: (calls) => noted.push(...calls),
    tookTime: (time) => {
      said.sawTime = time
      // It comes after its mutation, and must not see a time before it.
      if (job.phase === 'next') said.mustWait = true
    },
    last: (call) => {
      said.lastCall = call
    },
  })
  const { mustWait, lastCall, tookForeseen, sawTime } = said
  if (mustWait) return NOTHING_CAME_OF_IT
  const ending: PhaseEnding = lastCall === undefined ? { outcome } : { lastCall }
  const result = {
    ending,
    logs,
    tookForeseen,
    ...(noted.length > 0 ? { noted } : {}),
    ...(sawTime === undefined ? {} : { sawTime }),
  }
  return charsOf(result) > LARGEST_CHARS ? NOTHING_CAME_OF_IT : result
}

const NOTHING_CAME_OF_IT: AheadResult = { ending: null, logs: [], tookForeseen: false }
