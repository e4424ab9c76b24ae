import type { EscalationAction, EscalationKind } from '../model/escalation.ts'
import type { FailureType } from '../model/errors.ts'
import type { RetryPolicy } from '../model/retry-policy.ts'
import { longestRetryWaitMs, plannedWaitMs } from '../model/retry-policy.ts'
import type { StatusEvent } from './statuses.ts'

export const maxCrashesInRow = 3

const jitter = 0.3

/** Each class of failure has one way to stop a run, and one question for the person if one is asked (1.6). */
export const failureTable: Readonly<Record<FailureType, { statusEvent: StatusEvent; escalation: EscalationKind }>> = {
  network: { statusEvent: 'failed_transiently', escalation: 'retries_exhausted' },
  auth: { statusEvent: 'approval_needed', escalation: 'auth' },
  permission: { statusEvent: 'approval_needed', escalation: 'permission' },
  logic: { statusEvent: 'script_failed', escalation: 'logic_failure' },
  internal: { statusEvent: 'engine_failed', escalation: 'internal_failure' },
}

/** What a person can do about each kind of question (1.9). */
export const actionTable: Readonly<Record<EscalationKind, readonly EscalationAction[]>> = {
  indeterminate_mutation: ['happened', 'did_not_happen', 'skip', 'check_again'],
  logic_failure: ['retry', 'skip'],
  retries_exhausted: ['retry', 'skip'],
  auth: ['reconnect'],
  permission: ['grant', 'retry'],
  internal_failure: ['retry'],
}

/** first · factorⁿ up to the longest, plus 0–30 % so that many do not knock at once; never earlier than the other side asked. */
export const backoffMs = (policy: RetryPolicy, retriesUsed: number, random: number, retryAfterMs = 0): number => {
  const wait = Math.round(plannedWaitMs(policy, retriesUsed) * (1 + jitter * random))
  return Math.max(wait, Math.min(retryAfterMs, longestRetryWaitMs))
}
