import { failure } from '#engine/model/errors.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import { createFairQueue } from './fair-queue.ts'
import { createThreadSlot, type ThreadSlot } from './thread-slot.ts'
import { createDescribeTask, createPhaseTask, type ThreadTask } from './thread-task.ts'
import type { MemoryKind, SpawnThread } from './thread.ts'

const DEFAULT_SIZE = 2
/** A renderer bears about 125 wasm memories in all. */
const MOST_THREADS = 32
const IDLE_MS = 30_000

export interface SandboxPoolOptions {
  wasm: WebAssembly.Module
  compile: Sandbox['compile']
  spawn: SpawnThread
  /** Threads that are always there. More come when all are busy, so that neither a hog nor a long wait delays others. */
  size?: number
  /** At most so many at once, and at most 32. */
  cap?: number
  memory?: MemoryKind
}

export interface SandboxPool extends Sandbox {
  /** Ends all threads; what they were doing fails. */
  close(): void
  readonly threads: number
}

/**
 * The supervisor. A thread works on one phase at a time and is ended without ceremony when it hangs: a hung script costs
 * its own workflow one failed phase and nobody else anything.
 */
export function createSandboxPool({ wasm, compile, spawn, ...options }: SandboxPoolOptions): SandboxPool {
  const cap = Math.min(options.cap ?? MOST_THREADS, MOST_THREADS)
  const size = Math.min(options.size ?? DEFAULT_SIZE, cap)
  const memory = options.memory ?? 'snapshot'
  const slots = new Set<ThreadSlot>()
  const idleTimers = new Map<ThreadSlot, ReturnType<typeof setTimeout>>()
  const queue = createFairQueue<ThreadTask>()
  let isClosed = false

  const idle = (): ThreadSlot[] => [...slots].filter((slot) => slot.task === undefined)
  const underWay = (key: string): number => [...slots].filter(({ task }) => task?.key === key).length

  const addSlot = (): ThreadSlot => {
    const slot = createThreadSlot(
      spawn,
      { type: 'boot', wasm, memory },
      {
        freed: (freed) => {
          idleTimers.set(freed, setTimeout(retire, IDLE_MS, freed))
          dispatch()
        },
        ended: (ended) => {
          clearTimeout(idleTimers.get(ended))
          idleTimers.delete(ended)
          slots.delete(ended)
          // One that never started would be followed by others that do not start either.
          if (ended.wasReady && !isClosed) fill()
          dispatch()
        },
      },
    )
    slots.add(slot)
    return slot
  }

  const retire = (slot: ThreadSlot): void => {
    if (slot.task === undefined && slots.size > size) slot.end(failure('internal', 'retired'))
  }

  const slotFor = (scriptId: string | null): ThreadSlot => {
    const free = idle()
    return free.find(({ lastScriptId }) => scriptId !== null && lastScriptId === scriptId) ?? free[0] ?? addSlot()
  }

  const dispatch = (): void => {
    while (!isClosed && (slots.size < cap || idle().length > 0)) {
      const task = queue.take(underWay)
      if (task === undefined) return
      const slot = slotFor(task.scriptId)
      clearTimeout(idleTimers.get(slot))
      slot.run(task)
      // One more than is busy, started before anybody has to wait for it.
      if (slots.size < cap && idle().length === 0) addSlot()
    }
  }

  const submit = (task: ThreadTask): void => {
    if (isClosed) {
      task.fail(failure('internal', 'The sandbox is closed.'))
    } else {
      queue.put(task.key, task)
      dispatch()
    }
  }

  const fill = (): void => {
    while (slots.size < size) addSlot()
  }

  fill()
  return {
    compile,
    describe: ({ code }) => new Promise((resolve) => submit(createDescribeTask(code, resolve))),
    runPhase: (request) => new Promise((resolve) => submit(createPhaseTask(request, resolve))),
    close() {
      isClosed = true
      const reason = failure('internal', 'The sandbox was closed.')
      for (const task of queue.clear()) task.fail(reason)
      for (const slot of slots) slot.end(reason)
    },
    get threads() {
      return slots.size
    },
  }
}
