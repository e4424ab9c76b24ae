import { failure, type Failure } from '#engine/model/errors.ts'
import type { ThreadTask } from './thread-task.ts'
import type { FromThread, SpawnThread, ToThread } from './thread.ts'
import { createWatchdog } from './watchdog.ts'

/** One thread and the task it works on. Once ended it never comes back. */
export interface ThreadSlot {
  readonly task: ThreadTask | undefined
  /** It has started up: that it ended is not the fault of the place it lives in. */
  readonly wasReady: boolean
  /** The script it ran last, and so has at hand. */
  readonly lastScriptId: string | null
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
  let lastScriptId: string | null = null
  let wasReady = false
  let isOver = false

  const stop = (reason: Failure): void => {
    if (isOver) return
    isOver = true
    watchdog.rest()
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
    task = undefined
    events.freed(slot)
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

  const slot: ThreadSlot = {
    get task() {
      return task
    },
    get wasReady() {
      return wasReady
    },
    get lastScriptId() {
      return lastScriptId
    },
    run(next) {
      task = next
      const knownScriptId = lastScriptId
      lastScriptId = next.scriptId ?? lastScriptId
      next.start({ post: (message) => !isOver && thread.post(message), watchdog, knownScriptId })
    },
    end: stop,
  }
  return slot
}
