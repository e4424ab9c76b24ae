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

/** Timers of every platform end at 2³¹ − 1 ms, some 25 days: after that one it looks, finds nothing, and waits on. */
const longestTimerMs = 2 ** 31 - 1

export interface SchedulerParts {
  ports: EnginePorts
  flags: SchedulerState
  /** Asked at every look: it can be changed while the engine runs. */
  maxParallelWorkflows: () => number
  runLoop: RunLoop
  /** Work of the house, which no workflow waits for: it goes on by itself once begun. */
  upkeep: { nextAt(now: number): number; begin(): void }
  /** The clock was set back: everything that is planned may be too far away. */
  onSetBack(): void
  /** The engine cannot go on: its own code failed where even the failure could not be written. */
  onFatal(thrown: unknown): void
}

/**
 * The scheduler is the lock: a workflow has at most one run loop, and the loop has at most one handler going. There is no
 * polling, only one timer for the earliest of everything that is planned.
 *
 * `waiting` holds, in the order in which they came, the workflows that may have something to do: something of theirs changed, or a
 * time of theirs has come. A look asks only for the times that came since the look before, so it costs the same whether ten
 * workflows are planned or ten thousand; whoever was driven until nothing was left is out until there is news.
 */
export const createScheduler = ({
  ports: { store, clock, durability },
  flags,
  maxParallelWorkflows,
  runLoop,
  upkeep,
  onSetBack,
  onFatal,
}: SchedulerParts): Scheduler => {
  const busy = new Set<string>()
  const waiting = new Set<string>()
  /** Workflows that wait for a limit of the day; on every start they are asked again. */
  const limitedUntil = new Map<string, number>()
  let isRunning = false
  let isLookPlanned = false
  let cancelTimer = (): void => undefined
  /** When the one timer goes off; Infinity when there is none. */
  let timerAt = Infinity
  let plannedAt: number | null = null
  let lookedAt: number | null = null
  /** Times up to here have been asked for; null when all must be asked for again. */
  let scannedUpTo: number | null = null
  let quietListeners: (() => void)[] = []

  const scanTimes = (now: number): void => {
    // A clock that was set back makes every "since the last look" meaningless.
    const isSetBack = scannedUpTo !== null && now < scannedUpTo
    if (isSetBack) onSetBack()
    const after = isSetBack ? undefined : (scannedUpTo ?? undefined)
    scannedUpTo = now
    for (const { workflowId, producerName } of store.producerSchedules.due(now, after)) {
      flags.queue(workflowId, producerName)
      waiting.add(workflowId)
    }
    for (const { workflowId } of store.handlerStates.dueWakes(now, after)) waiting.add(workflowId)
    for (const { workflowId } of store.handlerRuns.dueRetries(now, after)) waiting.add(workflowId)
    for (const [workflowId, until] of limitedUntil) {
      if (until > now) continue
      limitedUntil.delete(workflowId)
      waiting.add(workflowId)
    }
  }

  /** The longest waiting first, so that none can starve another. Whoever is paused or blocked comes back when that changes. */
  const pick = (free: number): string[] => {
    const chosen: string[] = []
    while (chosen.length < free) {
      const batch = firstOf(waiting, free - chosen.length, (id) => !busy.has(id) && !chosen.includes(id))
      if (batch.length === 0) break
      const startable = new Set(store.workflows.startable(batch))
      for (const id of batch) {
        if (startable.has(id)) chosen.push(id)
        else waiting.delete(id)
      }
    }
    return chosen
  }

  const drive = async (workflowId: string): Promise<void> => {
    busy.add(workflowId)
    waiting.delete(workflowId)
    limitedUntil.delete(workflowId)
    const turn = { isExhausted: false }
    try {
      await runLoop(workflowId, {
        // Everything that happened up to here was seen; what happens from here on puts the workflow back.
        onNothingLeft: () => {
          turn.isExhausted = true
          waiting.delete(workflowId)
        },
        onLimited: (until) => limitedUntil.set(workflowId, until),
        onSettled: () => setTimer(clock.now()),
      })
    } catch (thrown) {
      isRunning = false
      onFatal(thrown)
    } finally {
      busy.delete(workflowId)
      // Its turn is over, its work may not be: behind all who came meanwhile, also when it had news of its own before them.
      const isWaiting = waiting.delete(workflowId)
      if (isWaiting || !turn.isExhausted) waiting.add(workflowId)
    }
    look()
  }

  const setTimerTo = (at: number): void => {
    // Asked after every attempt, and nearly always for the same time.
    if (at === timerAt) return
    cancelTimer()
    timerAt = at
    cancelTimer = at === Infinity ? () => undefined : clock.wakeAt(at, wake)
  }

  const wake = (): void => {
    timerAt = Infinity
    look()
  }

  const setTimer = (now: number): void => {
    if (!isRunning) return
    const planned = [
      store.producerSchedules.nextRunAt(now),
      store.handlerStates.nextWakeAt(now),
      store.handlerRuns.nextRetryAt(now),
      ...limitedUntil.values(),
    ].filter((at) => at !== null)
    plannedAt = planned.length === 0 ? null : Math.min(...planned)
    const upkeepAt = upkeep.nextAt(now)
    // What is due and could not begin waits for something other than time.
    const nextAt = Math.min(plannedAt ?? Infinity, upkeepAt > now ? upkeepAt : Infinity)
    setTimerTo(Math.min(nextAt, nextAt === Infinity ? Infinity : now + longestTimerMs))
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
    scanTimes(now)
    if (durability.isAccepting()) {
      for (const id of pick(maxParallelWorkflows() - busy.size)) void drive(id)
      if (upkeep.nextAt(now) <= now) upkeep.begin()
    }
    // Whoever asks for a look may know that time was lost: a timer that was set before a sleep rings late.
    cancelTimer()
    timerAt = Infinity
    setTimer(now)
    tellIfQuiet()
  }

  /** Several changes of one turn are one look. */
  const lookSoon = (): void => {
    if (isLookPlanned) return
    isLookPlanned = true
    void Promise.resolve().then(() => {
      isLookPlanned = false
      look()
    })
  }

  return {
    start: () => {
      isRunning = true
      scannedUpTo = null
      for (const id of flags.workflowIds()) waiting.add(id)
      for (const { workflowId } of store.scriptRuns.listOpen()) waiting.add(workflowId)
      for (const { workflowId } of store.handlerRuns.listActive()) waiting.add(workflowId)
      look()
    },
    stop: () => {
      isRunning = false
      setTimerTo(Infinity)
      plannedAt = null
    },
    look,
    touch: (workflowId) => {
      waiting.add(workflowId)
      if (isRunning && !busy.has(workflowId)) lookSoon()
    },
    isBusy: (workflowId) => busy.has(workflowId),
    nextWakeAt: () => plannedAt,
    lastLookAt: () => lookedAt,
    whenQuiet: () =>
      new Promise((resolve) => {
        quietListeners.push(resolve)
        look()
      }),
  }
}

const firstOf = (ids: Iterable<string>, count: number, isWanted: (id: string) => boolean): string[] => {
  const found: string[] = []
  for (const id of ids) {
    if (found.length >= count) break
    if (isWanted(id)) found.push(id)
  }
  return found
}
