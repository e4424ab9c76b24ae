import type { ChainAhead } from './chain-ahead.ts'
import { limitFailure, resolveLimits } from './limits.ts'
import { FRESH_MS } from './phase-link.ts'
import type { PhaseRequest } from '#engine/ports/sandbox.ts'
import type { ThreadGrip, ThreadTask } from './thread-task.ts'

/** What a thread does after a phase that it has answered already. */
export function createAheadTask({ workflowId, scriptId, limits }: PhaseRequest, chain: ChainAhead): ThreadTask {
  const { cpuMs } = resolveLimits(limits)
  let grip: ThreadGrip | undefined
  return {
    key: workflowId,
    scriptId,
    tooLong: limitFailure('cpuMs', cpuMs),
    briefMs: FRESH_MS,
    start(given) {
      grip = given
      // Enough for several: only the last of them takes longer than a moment.
      grip.watchdog.watch(cpuMs)
    },
    hear(message) {
      if (message.type !== 'ahead') return false
      if (!message.isLast) grip?.watchdog.rewatch(cpuMs)
      chain.hear(message.results, message.isLast)
      return message.isLast
    },
    // Nobody can tell which of them hangs. Run in its turn, it fails by itself.
    fail: () => chain.lose(),
  }
}
