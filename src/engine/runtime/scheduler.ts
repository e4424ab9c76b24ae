import type { EnginePorts } from './ports.ts'
import type { RunLoop } from './run-loop.ts'
import type { SchedulerState } from './scheduler-state.ts'

export interface Scheduler {
  start(): void
  /** Nothing new starts; what is going on goes on. */
  stop(): void
  /** Looks for work now: after a commit, a command, a wake-up of the tab, a jump of the clock. Cheap when there is none. */
  look(): void
  /** Something of this workflow changed: it may have work again. */
  touch(workflowId: string): void
  isBusy(workflowId: string): boolean
  /** When the one timer is set to; null when nothing is planned. */
  nextWakeAt(): number | null
  lastLookAt(): number | null
  /** Resolves when no workflow has anything running or runnable now. */
  whenQuiet(): Promise<void>
}

export interface SchedulerParts {
  ports: EnginePorts
  flags: SchedulerState
  maxParallelWorkflows: number
  runLoop: RunLoop
  /** The engine cannot go on: its own code failed where even the failure could not be written. */
  onFatal(thrown: unknown): void
}

/**
 * The scheduler is the lock: a workflow has at most one run loop, and the loop has at most one handler going. There is no
 * polling, only one timer for the earliest of everything that is planned.
 */
export const createScheduler = ({
  ports: { store, clock, durability },
  flags,
  maxParallelWorkflows,
  runLoop,
  onFatal,
}: SchedulerParts): Scheduler => {
  const busy = new Set<string>()
  /** Since when each workflow has been waiting for its turn: the longest waiting goes first, so none can starve another. */
  const waitingSince = new Map<string, number>()
  /**
   * Workflows that were looked at and could do nothing, with the time of the look. Until something of theirs changes, only what
   * fell due after it is news; otherwise a handler that is due but waits for its retry would be picked for ever.
   */
  const exhaustedAt = new Map<string, number>()
  let turn = 0
  let isRunning = false
  let cancelTimer = (): void => undefined
  let timerAt: number | null = null
  let lookedAt: number | null = null
  let quietListeners: (() => void)[] = []

  const mayStart = (id: string): boolean => {
    const workflow = store.workflows.get(id)
    return workflow?.status === 'active' && workflow.block === null
  }

  const candidates = (now: number): string[] => {
    // A clock that was set back makes every "after the last look" meaningless.
    if (lookedAt !== null && now < lookedAt) exhaustedAt.clear()
    const isNews = (id: string, dueAt: number): boolean => dueAt > (exhaustedAt.get(id) ?? -Infinity)
    const ids = new Set<string>()
    for (const id of flags.workflowIds()) if (!exhaustedAt.has(id)) ids.add(id)
    for (const { workflowId } of store.scriptRuns.listOpen()) if (!exhaustedAt.has(workflowId)) ids.add(workflowId)
    for (const { workflowId, producerName, nextRunAt } of store.producerSchedules.due(now)) {
      flags.queue(workflowId, producerName)
      if (isNews(workflowId, nextRunAt)) ids.add(workflowId)
    }
    for (const { workflowId, wakeAt } of store.handlerStates.dueWakes(now)) {
      if (isNews(workflowId, wakeAt)) ids.add(workflowId)
    }
    for (const { workflowId, retryAt } of store.handlerRuns.dueRetries(now)) {
      if (isNews(workflowId, retryAt ?? now)) ids.add(workflowId)
    }
    return [...ids].filter((id) => !busy.has(id) && mayStart(id))
  }

  const waitingFirst = (ids: string[]): string[] => {
    for (const id of ids) if (!waitingSince.has(id)) waitingSince.set(id, (turn += 1))
    return ids.sort((a, b) => (waitingSince.get(a) ?? 0) - (waitingSince.get(b) ?? 0))
  }

  const drive = async (workflowId: string): Promise<void> => {
    busy.add(workflowId)
    waitingSince.delete(workflowId)
    try {
      exhaustedAt.delete(workflowId)
      await runLoop(workflowId, (asOf) => exhaustedAt.set(workflowId, asOf))
    } catch (thrown) {
      isRunning = false
      onFatal(thrown)
    } finally {
      busy.delete(workflowId)
    }
    look()
  }

  const setTimer = (now: number): void => {
    cancelTimer()
    const planned = [
      store.producerSchedules.nextRunAt(now),
      store.handlerStates.nextWakeAt(now),
      store.handlerRuns.nextRetryAt(now),
    ].filter((at) => at !== null)
    timerAt = planned.length === 0 ? null : Math.min(...planned)
    cancelTimer = timerAt === null ? () => undefined : clock.wakeAt(timerAt, look)
  }

  const tellIfQuiet = (): void => {
    if (busy.size > 0) return
    for (const listener of quietListeners) listener()
    quietListeners = []
  }

  const look = (): void => {
    if (!isRunning) {
      tellIfQuiet()
      return
    }
    const now = clock.now()
    lookedAt = now
    const waiting = durability.isAccepting() ? waitingFirst(candidates(now)) : []
    for (const id of waiting.slice(0, Math.max(0, maxParallelWorkflows - busy.size))) void drive(id)
    setTimer(now)
    tellIfQuiet()
  }

  return {
    start: () => {
      isRunning = true
      look()
    },
    stop: () => {
      isRunning = false
      cancelTimer()
      timerAt = null
    },
    look,
    touch: (workflowId) => {
      exhaustedAt.delete(workflowId)
    },
    isBusy: (workflowId) => busy.has(workflowId),
    nextWakeAt: () => timerAt,
    lastLookAt: () => lookedAt,
    whenQuiet: () =>
      new Promise((resolve) => {
        quietListeners.push(resolve)
        look()
      }),
  }
}
