import type { RunTrigger } from '../model/script-run.ts'

/** What is known of one idle workflow when its next step is chosen. Times that are not due yet are not in it. */
export interface WorkflowSituation {
  /** An attempt that was left between two phases, by a pause or an answered question. */
  parkedRunId: string | null
  /** Attempts whose time to be retried has come, the longest due first. */
  dueRetryIds: readonly string[]
  consumers: readonly {
    name: string
    isDirty: boolean
    isWakeDue: boolean
    isHeld: boolean
    oldestEventId: string | null
  }[]
  producers: readonly { name: string; isQueued: boolean; dueAt: number | null; isHeld: boolean }[]
  openRun: { trigger: RunTrigger; producersRun: readonly string[] } | null
}

export type Choice =
  | { kind: 'continue'; handlerRunId: string }
  | { kind: 'retry'; handlerRunId: string }
  | { kind: 'consumer'; name: string }
  | { kind: 'producer'; name: string; inOpenRun: boolean }

/**
 * A retry first, then consumers, then producers; but a run that was started for its producers runs them before the consumers
 * that wait for their events. Each producer runs at most once in a run: one that is due again belongs to the next run.
 */
export const chooseNext = (situation: WorkflowSituation): Choice | null => {
  if (situation.parkedRunId !== null) return { kind: 'continue', handlerRunId: situation.parkedRunId }
  const { openRun } = situation
  const producer = longestDue(situation.producers)
  const runsProducers = openRun !== null && openRun.trigger !== 'event'
  const stillToRun = runsProducers
    ? longestDue(situation.producers.filter(({ name }) => !openRun.producersRun.includes(name)))
    : null
  const runNext: Choice | null = stillToRun === null ? null : { kind: 'producer', name: stillToRun, inOpenRun: true }
  // A retry of another run closes this one, and "Run now" was answered: what it was started for comes first.
  if (runNext !== null && openRun?.trigger === 'manual') return runNext
  const [retryId] = situation.dueRetryIds
  if (retryId !== undefined) return { kind: 'retry', handlerRunId: retryId }
  if (runNext !== null) return runNext
  const consumer = oldestWaiting(situation.consumers)
  if (consumer !== null) return { kind: 'consumer', name: consumer }
  return producer === null ? null : { kind: 'producer', name: producer, inOpenRun: false }
}

const longestDue = (producers: WorkflowSituation['producers']): string | null => {
  const ready = producers.filter(({ isHeld, isQueued, dueAt }) => !isHeld && (isQueued || dueAt !== null))
  ready.sort((a, b) => (a.dueAt ?? Infinity) - (b.dueAt ?? Infinity))
  return ready[0]?.name ?? null
}

const oldestWaiting = (consumers: WorkflowSituation['consumers']): string | null => {
  const ready = consumers.filter(({ isHeld, isDirty, isWakeDue }) => !isHeld && (isDirty || isWakeDue))
  // Without an event there is nothing to be first for; '~' sorts behind every id.
  ready.sort((a, b) => compareText(a.oldestEventId ?? '~', b.oldestEventId ?? '~'))
  return ready[0]?.name ?? null
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
