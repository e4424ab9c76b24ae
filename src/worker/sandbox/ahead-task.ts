import type { Failure } from '#engine/model/errors.ts'
import type { PhaseHost, PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import { limitFailure, resolveLimits } from './limits.ts'
import { takeEnding } from './phase-ending.ts'
import type { LoggedLine, PhaseEnding } from './thread.ts'
import type { ThreadTask } from './thread-task.ts'

interface Claim {
  host: PhaseHost
  resolve(outcome: PhaseOutcome): void
  /** It wanted something that only its host can tell. */
  runInstead(): void
}

/** A phase that a thread runs before it is asked for. It has its outcome only once somebody claims it. */
export interface AheadTask extends ThreadTask {
  fits(request: PhaseRequest): boolean
  claim(claim: Claim): void
}

export function createAheadTask(
  before: PhaseRequest,
  { outcome }: Extract<PhaseEnding, { outcome: unknown }>,
): AheadTask {
  const { workflowId, scriptId, handler, then: phase } = before
  const value = outcome.kind === 'returned' ? outcome.value : undefined
  const limits = JSON.stringify(before.limits)
  const { cpuMs } = resolveLimits(before.limits)
  let claimed: Claim | undefined
  let ended: { ending: PhaseEnding | null; logs: readonly LoggedLine[] } | undefined

  const meet = (): void => {
    if (claimed === undefined || ended === undefined) return
    const { host, resolve, runInstead } = claimed
    if (ended.ending === null) {
      runInstead()
      return
    }
    for (const { level, message } of ended.logs) host.log(level, message)
    takeEnding(host, ended.ending, resolve)
  }

  return {
    key: workflowId,
    scriptId,
    tooLong: limitFailure('cpuMs', cpuMs),
    start: ({ watchdog }) => watchdog.watch(cpuMs),
    hear(message) {
      if (message.type !== 'ahead') return false
      ended = message
      meet()
      return true
    },
    fail(failure: Failure) {
      ended = { ending: { outcome: { kind: 'failed', failure } }, logs: [] }
      meet()
    },
    fits: (request) =>
      request.phase === phase &&
      request.scriptId === scriptId &&
      request.handler === handler &&
      request.args.length === 1 &&
      request.args[0] === value &&
      request.values === undefined &&
      JSON.stringify(request.limits) === limits,
    claim(claim) {
      claimed = claim
      meet()
    },
  }
}
