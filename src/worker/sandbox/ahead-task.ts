import type { Failure } from '#engine/model/errors.ts'
import { createGuess, type Guess, type GuessParts } from './guess.ts'
import { limitFailure, resolveLimits } from './limits.ts'
import type { AheadResult } from './thread.ts'
import type { ThreadTask } from './thread-task.ts'

/** What a thread does after a phase that it has answered already. */
export interface AheadTask extends ThreadTask {
  readonly guess: Guess
}

export function createAheadTask(parts: GuessParts): AheadTask {
  const { request, following } = parts
  const { cpuMs } = resolveLimits(request.limits)
  const guess = createGuess(parts)

  /** With two phases run ahead nobody can tell which of them it was. Run in its turn, each fails by itself. */
  const resultOf = (failure: Failure): AheadResult => ({
    ending: following.then === undefined ? { outcome: { kind: 'failed', failure } } : null,
    logs: [],
    tookForeseen: false,
  })

  return {
    key: request.workflowId,
    scriptId: request.scriptId,
    tooLong: limitFailure('cpuMs', cpuMs),
    // Enough for several: only the last of them takes longer than a moment.
    start: ({ watchdog }) => watchdog.watch(cpuMs),
    hear(message) {
      if (message.type !== 'ahead') return false
      guess.settle(message.results)
      return true
    },
    fail: (failure) => guess.settle([resultOf(failure)]),
    guess,
  }
}
