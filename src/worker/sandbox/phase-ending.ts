import { failure } from '#engine/model/errors.ts'
import type { PhaseHost, PhaseOutcome } from '#engine/ports/sandbox.ts'
import { answerCall } from './phase-link.ts'
import type { PhaseEnding } from './thread.ts'

/** The script is over already, so there is nothing to call off. */
export const NEVER_ABORTED = new AbortController().signal

/** A phase that ended by asking for a mutation has its outcome when the host has taken note of it. */
export function takeEnding(host: PhaseHost, ending: PhaseEnding, end: (outcome: PhaseOutcome) => void): void {
  if ('outcome' in ending) {
    end(ending.outcome)
    return
  }
  const { lastCall } = ending
  void answerCall(host, lastCall, NEVER_ABORTED).then((reply) => {
    if (reply.kind === 'end') end({ kind: 'ended' })
    else if (reply.kind === 'error') end({ kind: 'failed', failure: reply.failure })
    else
      end({
        kind: 'failed',
        failure: failure('internal', reply.kind === 'broken' ? reply.message : NOT_ENDED(lastCall.op)),
      })
  })
}

/** The same without waiting for the host's word: it takes note of the mutation in the same turn, or there is none. */
export function endingAtOnce(host: PhaseHost, ending: PhaseEnding): PhaseOutcome {
  if ('outcome' in ending) return ending.outcome
  void answerCall(host, ending.lastCall, NEVER_ABORTED)
  return { kind: 'ended' }
}

const NOT_ENDED = (op: string): string => `${op} was told to be a mutation, but did not end its phase.`
