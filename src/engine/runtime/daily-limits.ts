import type { Failure } from '../model/errors.ts'
import { failure } from '../model/errors.ts'
import type { DailyLimits } from '../model/workflow.ts'
import type { StoreReads } from '../ports/store.ts'
import { limitsOf } from './workflow-limits.ts'

export const dayMs = 24 * 60 * 60_000

/** A limit that leaves nothing for now. */
export interface UsedUp {
  limit: keyof DailyLimits
  allowed: number
  /** When the entry that is one too many will be a day ago. */
  freesAt: number
}

export interface Limited {
  message: string
  until: number
}

type LedgerReads = Pick<StoreReads, 'settings' | 'mutations' | 'handlerRuns'>

/**
 * Counted from the ledger and the costs of the attempts, over the last 24 hours: nothing is written for it, so a crash can
 * neither forget what was used nor count it twice.
 */
export const mutationsUsedUp = (
  store: LedgerReads,
  workflowId: string,
  now: number,
  { mutationsPerDay: allowed } = limitsOf(store.settings, workflowId),
): UsedUp | null => {
  if (allowed === undefined) return null
  const at = store.mutations.madeAt(workflowId, now - dayMs, allowed)
  return at === null ? null : { limit: 'mutationsPerDay', allowed, freesAt: at + dayMs }
}

/** `unwritten` is what the phase that is going on has cost so far. */
export const costUsedUp = (
  store: LedgerReads,
  workflowId: string,
  now: number,
  unwritten: number,
  { costPerDay: allowed } = limitsOf(store.settings, workflowId),
): UsedUp | null => {
  if (allowed === undefined) return null
  const at = unwritten >= allowed ? now : store.handlerRuns.costReachedAt(workflowId, now - dayMs, allowed - unwritten)
  return at === null ? null : { limit: 'costPerDay', allowed, freesAt: at + dayMs }
}

/** All that are used up now; none for a workflow without limits. */
export const usedUpLimits = (store: LedgerReads, workflowId: string, now: number): UsedUp[] => {
  const limits = limitsOf(store.settings, workflowId)
  const both = [mutationsUsedUp(store, workflowId, now, limits), costUsedUp(store, workflowId, now, 0, limits)]
  return both.filter((usedUp) => usedUp !== null)
}

/** For people: why something waits, and until when; null when nothing does. */
export const limitedBy = (store: LedgerReads, workflowId: string, now: number): Limited | null => {
  const usedUp = usedUpLimits(store, workflowId, now)
  if (usedUp.length === 0) return null
  return { message: usedUp.map(usedUpSentence).join(' '), until: Math.max(...usedUp.map(({ freesAt }) => freesAt)) }
}

export const dailyUse = (store: LedgerReads, workflowId: string, now: number): DailyLimits => ({
  mutationsPerDay: store.mutations.madeSince(workflowId, now - dayMs),
  costPerDay: store.handlerRuns.costSince(workflowId, now - dayMs),
})

const sentences: Readonly<Record<keyof DailyLimits, (allowed: number) => string>> = {
  mutationsPerDay: (allowed) =>
    allowed === 1
      ? 'The one mutation that this workflow may make in 24 hours was made.'
      : `The ${String(allowed)} mutations that this workflow may make in 24 hours were made.`,
  costPerDay: (allowed) => `The $${String(allowed / 1_000_000)} that this workflow may cost in 24 hours are spent.`,
}

export const usedUpSentence = ({ limit, allowed }: UsedUp): string =>
  `${sentences[limit](allowed)} It goes on by itself as the day passes, or at once when you raise the limit in its settings.`

/** A rate limit like any other: not the fault of the script, and over at a known time. */
export const usedUpFailure = (usedUp: UsedUp, now: number): Failure =>
  failure('network', usedUpSentence(usedUp), { retryAfterMs: Math.max(0, usedUp.freesAt - now) })
