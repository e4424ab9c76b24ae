import { failure } from '#engine/model/errors.ts'
import type { PhaseOutcome, PhaseRequest, Sandbox } from '#engine/ports/sandbox.ts'
import { createChainsAhead } from './chains-ahead.ts'
import { createFairQueue } from './fair-queue.ts'
import { createFirstCalls } from './first-calls.ts'
import { createGuessLuck } from './guess-luck.ts'
import { createUsualOutcomes } from './usual-outcomes.ts'
import { createPhaseTask } from './phase-task.ts'
import { BRIEF_MS, createThreadSlot, type ThreadSlot } from './thread-slot.ts'
import { createDescribeTask, type ThreadTask } from './thread-task.ts'
import type { MemoryKind, SpawnThread } from './thread.ts'

const DEFAULT_SIZE = 2
/** A renderer bears about 125 wasm memories in all. */
const MOST_THREADS = 32
const IDLE_MS = 30_000
const AT_ONCE = 2
/** Attempts that are run ahead at once: a workflow that is alone may have its thread for longer. */
const MOST_AHEAD = { alone: 32, besideOthers: 8 }

export interface SandboxPoolOptions {
  wasm: WebAssembly.Module
  compile: Sandbox['compile']
  spawn: SpawnThread
  /** Threads that are always there. More come when all are busy, so that neither a hog nor a long wait delays others. */
  size?: number
  /** At most so many at once, and at most 32. */
  cap?: number
  /** So many that compute for a moment; see `isCrowded`. */
  atOnce?: number
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
  const atOnce = options.atOnce ?? AT_ONCE
  const slots = new Set<ThreadSlot>()
  const idleSince = new Map<ThreadSlot, number>()
  const queue = createFairQueue<ThreadTask>()
  const luck = createGuessLuck()
  const chains = createChainsAhead(luck)
  const ofPhases = {
    firstCalls: createFirstCalls(),
    usualOutcomes: createUsualOutcomes(),
    luck,
    mostAttempts: (workflowId: string) => (isAlone(workflowId) ? MOST_AHEAD.alone : MOST_AHEAD.besideOthers),
    isHeldUp: (workflowId: string) => [...slots].some(({ task, isBrief }) => task?.key === workflowId && !isBrief),
    wentOn: chains.put,
  }
  let isClosed = false
  let lookTimer: ReturnType<typeof setTimeout> | undefined
  let retireTimer: ReturnType<typeof setTimeout> | undefined

  const idle = (): ThreadSlot[] => [...slots].filter((slot) => slot.task === undefined)
  const isAlone = (key: string): boolean =>
    queue.size === 0 && [...slots].every(({ task }) => task === undefined || task.key === key)
  const underWay = (key: string): number => [...slots].filter(({ task }) => task?.key === key).length

  const addSlot = (): ThreadSlot => {
    const slot = createThreadSlot(
      spawn,
      { type: 'boot', wasm, memory },
      {
        freed: (freed) => {
          idleSince.set(freed, performance.now())
          retireLater()
          dispatch()
        },
        ended: (ended) => {
          idleSince.delete(ended)
          slots.delete(ended)
          // One that never started would be followed by others that do not start either.
          if (ended.wasReady && !isClosed) fill()
          dispatch()
        },
      },
    )
    slots.add(slot)
    idleSince.set(slot, performance.now())
    return slot
  }

  /** One timer for all: a thread is freed hundreds of times a second. */
  const retireLater = (inMs = IDLE_MS): void => {
    if (slots.size > size) retireTimer ??= setTimeout(retire, inMs)
  }

  const retire = (): void => {
    retireTimer = undefined
    const longAgo = performance.now() - IDLE_MS
    for (const [slot, since] of idleSince) {
      if (since <= longAgo && slots.size > size) slot.end(failure('internal', 'retired'))
    }
    if (idleSince.size > 0) retireLater(Math.min(...idleSince.values()) - longAgo)
  }

  /** Those that are always there come first: a script is soon known to each of them, and their memory is at hand. */
  const slotFor = (scriptId: string | null): ThreadSlot => {
    const knowing = (among: readonly ThreadSlot[]): ThreadSlot | undefined =>
      among.find((slot) => scriptId !== null && slot.knows(scriptId)) ?? among[0]
    const lasting = [...slots].slice(0, size).filter(({ task }) => task === undefined)
    return knowing(lasting) ?? knowing(idle()) ?? addSlot()
  }

  /**
   * A few phases at a time are done sooner than many that take the processor from each other. Who computes for long or waits
   * for its host does not count: neither a hog nor a slow server holds up others.
   */
  const isCrowded = (): boolean => [...slots].filter(({ isBrief }) => isBrief).length >= atOnce
  const lookAgain = (): void => {
    lookTimer ??= setTimeout(() => {
      lookTimer = undefined
      dispatch()
    }, BRIEF_MS)
  }

  const dispatch = (): void => {
    while (!isClosed && (slots.size < cap || idle().length > 0)) {
      if (queue.size > 0 && isCrowded()) {
        lookAgain()
        return
      }
      const task = queue.take(underWay)
      if (task === undefined) return
      const slot = slotFor(task.scriptId)
      idleSince.delete(slot)
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

  const runPhase = (request: PhaseRequest, resolve: (outcome: PhaseOutcome) => void): void => {
    const runInTurn = (): void => submit(createPhaseTask(request, ofPhases, resolve))
    // Its thread is free again as soon as it has told all.
    if (!chains.claim(request, resolve, () => queueMicrotask(runInTurn))) runInTurn()
  }

  const fill = (): void => {
    while (slots.size < size) addSlot()
  }

  fill()
  return {
    compile,
    describe: ({ code }) => new Promise((resolve) => submit(createDescribeTask(code, resolve))),
    runPhase: (request) => new Promise((resolve) => runPhase(request, resolve)),
    takeAtHand: chains.take,
    close() {
      isClosed = true
      clearTimeout(lookTimer)
      clearTimeout(retireTimer)
      const reason = failure('internal', 'The sandbox was closed.')
      for (const task of queue.clear()) task.fail(reason)
      for (const slot of slots) slot.end(reason)
    },
    get threads() {
      return slots.size
    },
  }
}
