import { failure, type Failure } from '#engine/model/errors.ts'
import { createScriptsAtHand } from './scripts-at-hand.ts'
import type { ThreadGrip, ThreadTask } from './thread-task.ts'
import type { FromThread, SpawnThread, ToThread } from './thread.ts'
import { createWatchdog } from './watchdog.ts'

/** Most phases take less. Whoever takes longer is not waited for. */
export const BRIEF_MS = 16

/** One thread and the task it works on. Once ended it never comes back. */
export interface ThreadSlot {
  readonly task: ThreadTask | undefined
  /** It has started up: that it ended is not the fault of the place it lives in. */
  readonly wasReady: boolean
  knows(scriptId: string): boolean
  /** It has just begun and will probably be done in a moment. */
  readonly isBrief: boolean
  run(task: ThreadTask): void
  end(reason: Failure): void
}

export interface SlotEvents {
  /** The task is over, the thread is free. */
  freed(slot: ThreadSlot): void
  /** The thread is gone, and its task with it. */
  ended(slot: ThreadSlot): void
}

export function createThreadSlot(
  spawn: SpawnThread,
  boot: Extract<ToThread, { type: 'boot' }>,
  events: SlotEvents,
): ThreadSlot {
  let task: ThreadTask | undefined
  const scripts = createScriptsAtHand()
  let wasReady = false
  let isOver = false
  let startedAt = 0

  const stop = (reason: Failure): void => {
    if (isOver) return
    isOver = true
    watchdog.stop()
    thread.terminate()
    const interrupted = task
    task = undefined
    events.ended(slot)
    interrupted?.fail(reason)
  }

  const hear = (message: FromThread): void => {
    if (isOver) return
    if (message.type === 'ready') wasReady = true
    if (message.type === 'pong') watchdog.answered()
    if (message.type === 'broken') stop(failure('internal', `The sandbox broke: ${message.message}`))
    if (task?.hear(message) !== true) return
    watchdog.rest()
    task = task.following?.()
    if (task === undefined) events.freed(slot)
    else {
      startedAt = performance.now()
      task.start(grip())
    }
  }

  const thread = spawn({
    message: hear,
    failed: (message) => stop(failure('internal', `The sandbox stopped: ${message}`)),
  })
  const watchdog = createWatchdog(
    () => thread.post({ type: 'ping' }),
    () => task && stop(task.tooLong),
  )
  thread.post(boot)

  const grip = (): ThreadGrip => ({
    post: (message) => !isOver && thread.post(message),
    watchdog,
    scripts,
  })

  const slot: ThreadSlot = {
    get task() {
      return task
    },
    get wasReady() {
      return wasReady
    },
    knows: (scriptId) => scripts.has(scriptId),
    get isBrief() {
      return task !== undefined && watchdog.isWatching && performance.now() - startedAt < (task.briefMs ?? BRIEF_MS)
    },
    run(next) {
      task = next
      startedAt = performance.now()
      next.start(grip())
    },
    end: stop,
  }
  return slot
}
