import type { QuickJSContext, QuickJSHandle, VmCallResult } from 'quickjs-emscripten-core'
import { EngineBug } from '#engine/model/errors.ts'
import { bridgeSource } from './prelude/bridge.ts'
import { preludeSources } from './prelude/prelude.ts'
import type { QuickjsInstance } from './quickjs-instance.ts'
import { utf8Bytes } from './text-size.ts'

/** The name of the user's file in stacks, and of everything of ours. */
export const SCRIPT_FILE = 'workflow.ts'
const PRELUDE_FILE = 'holdfast'

/** On the same line as the user's first: lines stay as they are, and only the columns of line 1 move. */
export const WRAPPER = '(function(exports){"use strict";'
const WRAPPER_END = '\n;return typeof workflow==="undefined"?undefined:workflow})'

/** Kept from scripts: what QuickJS itself takes, and the host's copies of the text it hands over. */
const RESERVED_BYTES = 16 * 1024 * 1024
const SLACK_BYTES = 1024
/** Once so much of its limit has been touched, a script that throws null is taken to have run out. */
const USED_UP = 0.75
const OUT_OF_MEMORY: Answer = 'E{"name":"InternalError","message":"out of memory","internal":true'
const THREW_NULL: Answer = 'E{"message":"The script threw null."}'

/** What a guest is told that has been stopped. */
const REFUSED = -1

/** Jobs between two looks at the clock. */
const JOBS_AT_ONCE = 64

/** What the guest asks of the one who runs it. Nothing here may throw. */
export interface GuestHost {
  /** With id 0 answered at once, by undefined when there is no answer; otherwise later through `settle`. */
  call(id: number, op: string, json: string): number | string | undefined
  shouldInterrupt(): boolean
  /** The script is over: all it does from here on is refused. */
  isStopped(): boolean
}

/** The guest's memory is used up, or it is otherwise beyond answering. Its instance must not be used again. */
export class GuestBroken extends Error {
  override name = 'GuestBroken'
}

/** One letter and its text: `L` loaded, `V` a value, `U` undefined, `E` what was thrown. */
export type Answer = string

/** A QuickJS context with the prelude in it. Text goes in, text comes out; no handle of a script's value is kept. */
export interface Guest {
  readonly instance: QuickjsInstance
  /** It ran out of memory, and holds all there is of it. */
  readonly isExhausted: boolean
  /** Where the script was when it was stopped: the place of the last call in the function that was running. */
  readonly stoppedAt: Answer | undefined
  /** Who is asked from now on. */
  talkTo(host: GuestHost): void
  setLimits(limits: { memoryBytes: number; stackBytes: number }): void
  /** What `ctx` offers in every phase: dotted paths. Once, before the script is loaded. */
  furnish(operations: readonly string[]): void
  load(code: string): Answer
  describe(): Answer
  give(argument: string): Answer
  start(setup: string): void
  settle(id: number, isValue: boolean, json: string | undefined): void
  /** Where a call was made that is still waiting. */
  trace(id: number): Answer
  /** True while there may be more to do. */
  runJobs(): boolean
  /** The answer of the phase, undefined while it is open. */
  answer(): Answer | undefined
}

/** While only our own prelude runs. */
const nobody: GuestHost = { call: () => undefined, shouldInterrupt: () => false, isStopped: () => false }

export function createGuest(instance: QuickjsInstance): Guest {
  const runtime = instance.quickjs.newRuntime()
  const context = runtime.newContext()
  let host = nobody
  let memoryLimit = Infinity
  let isExhausted = false
  let stoppedAt: Answer | undefined
  let running: QuickJSHandle | undefined

  runtime.setInterruptHandler(() => {
    const isInterrupted = host.shouldInterrupt()
    if (isInterrupted) noteWhere()
    return isInterrupted
  })

  /** In the middle of the script, which is the only moment when its stack can be seen. */
  const noteWhere = (): void => {
    if (stoppedAt !== undefined) return
    const result = context.callFunction(bridge.here, context.undefined)
    if (result.error === undefined) stoppedAt = context.getString(result.value)
    result.dispose()
  }

  /** The library writes to address 0 when malloc fails: ask for the room first. */
  const demandRoom = (text: string): void => {
    const room = instance.malloc(utf8Bytes(text) + SLACK_BYTES)
    if (room === 0) throw new GuestBroken('out of memory')
    instance.free(room)
  }

  const newText = (text: string): QuickJSHandle => {
    demandRoom(text)
    return context.newString(text)
  }

  const readText = (handle: QuickJSHandle): string => {
    const text = context.getString(handle)
    // Every text that leaves begins with a letter or a bracket: nothing means that there was no memory to hand it over.
    if (text === '') throw new GuestBroken('out of memory')
    return text
  }

  const hostCall = context.newFunction('hostCall', (id, op, json) => {
    const text = context.getString(json)
    const answer = host.call(context.getNumber(id), context.getString(op), text)
    if (host.isStopped()) {
      noteWhere()
      return context.newNumber(REFUSED)
    }
    if (typeof answer === 'number') return context.newNumber(answer)
    if (typeof answer === 'string') return newText(answer)
    return undefined
  })

  const bridge = loadPrelude(context, hostCall)

  /** Errors of our own functions are never the script's words: it ran out of something while they worked. */
  const take = (result: VmCallResult<QuickJSHandle>): QuickJSHandle => {
    if (result.error === undefined) return result.value
    result.error.dispose()
    throw new GuestBroken('no answer')
  }

  /** Without memory for an error object QuickJS throws null, as a script can too: what is left of the memory tells. */
  const checked = (answer: Answer): Answer => {
    isExhausted ||= answer.startsWith(OUT_OF_MEMORY)
    if (answer === THREW_NULL && usedBytes(instance.memory) > USED_UP * memoryLimit)
      throw new GuestBroken('out of memory')
    return answer
  }

  const takeText = (result: VmCallResult<QuickJSHandle>): string => {
    const handle = take(result)
    const text = readText(handle)
    handle.dispose()
    return checked(text)
  }

  const callWithText = (fn: QuickJSHandle, text: string): VmCallResult<QuickJSHandle> =>
    newText(text).consume((handle) => context.callFunction(fn, context.undefined, handle))

  const reportOf = (error: QuickJSHandle): Answer =>
    checked(`E${error.consume((handle) => takeText(context.callFunction(bridge.report, context.undefined, handle)))}`)

  return {
    instance,

    get isExhausted() {
      return isExhausted
    },

    get stoppedAt() {
      return stoppedAt
    },

    talkTo(next) {
      host = next
      stoppedAt = undefined
    },

    setLimits({ memoryBytes, stackBytes }) {
      memoryLimit = Math.min(memoryBytes, instance.memory.buffer.byteLength - RESERVED_BYTES)
      runtime.setMemoryLimit(memoryLimit)
      runtime.setMaxStackSize(stackBytes)
    },

    furnish(operations) {
      const paths = JSON.stringify(operations.map((op) => ({ op, path: op.split('.') })))
      take(callWithText(bridge.furnish, paths)).dispose()
    },

    load(code) {
      demandRoom(code)
      const factory = context.evalCode(WRAPPER + code + WRAPPER_END, SCRIPT_FILE, { type: 'global' })
      if (factory.error !== undefined) return reportOf(factory.error)
      return factory.value.consume((fn) => takeText(context.callFunction(bridge.load, context.undefined, fn)))
    },

    describe: () => takeText(context.callFunction(bridge.describe, context.undefined)),

    give(argument) {
      const result = callWithText(bridge.give, argument)
      if (result.error !== undefined) return reportOf(result.error)
      result.value.dispose()
      return 'U'
    },

    start(setup) {
      running = take(callWithText(bridge.start, setup))
    },

    settle(id, isValue, json) {
      const args = [
        context.newNumber(id),
        isValue ? context.true : context.false,
        json === undefined ? context.undefined : newText(json),
      ]
      take(context.callFunction(bridge.settle, context.undefined, args)).dispose()
      for (const handle of args) handle.dispose()
    },

    trace: (id) =>
      context
        .newNumber(id)
        .consume((handle) => takeText(context.callFunction(bridge.trace, context.undefined, handle))),

    runJobs() {
      const result = runtime.executePendingJobs(JOBS_AT_ONCE)
      // A job that ends by an exception was interrupted, or is the script's own affair: its promises know.
      result.dispose()
      return runtime.hasPendingJob()
    },

    answer() {
      if (running === undefined) return undefined
      const state = context.getPromiseState(running)
      if (state.type === 'pending') return undefined
      // Not by our own function, which catches all: a trap on Promise.prototype ends it from outside.
      if (state.type === 'rejected') return reportOf(state.error)
      const text = readText(state.value)
      state.value.dispose()
      running.dispose()
      running = undefined
      return checked(text)
    },
  }
}

/** Up to where the memory was ever written: it was all zero, and is again whenever a guest is lent. */
function usedBytes(memory: WebAssembly.Memory): number {
  return new Uint32Array(memory.buffer).findLastIndex((word) => word !== 0) * 4
}

interface Bridge {
  furnish: QuickJSHandle
  load: QuickJSHandle
  give: QuickJSHandle
  start: QuickJSHandle
  settle: QuickJSHandle
  report: QuickJSHandle
  describe: QuickJSHandle
  trace: QuickJSHandle
  here: QuickJSHandle
}

function loadPrelude(context: QuickJSContext, hostCall: QuickJSHandle): Bridge {
  const take = (result: VmCallResult<QuickJSHandle>): QuickJSHandle => {
    if (result.error === undefined) return result.value
    throw new EngineBug(`The prelude does not load: ${context.getString(result.error)}`)
  }
  const evaluate = (source: string) => take(context.evalCode(source, PRELUDE_FILE, { type: 'global', strict: true }))
  const call = (fn: QuickJSHandle, argument: QuickJSHandle) =>
    take(context.callFunction(fn, context.undefined, argument))

  const bridge = evaluate(bridgeSource).consume((create) => call(create, hostCall))
  const tools = context.getProp(bridge, 'tools')
  for (const source of preludeSources) evaluate(source).consume((extend) => call(extend, tools).dispose())
  tools.dispose()
  const part = (name: keyof Bridge) => context.getProp(bridge, name)
  const parts = {
    furnish: part('furnish'),
    load: part('load'),
    give: part('give'),
    start: part('start'),
    settle: part('settle'),
    report: part('report'),
    describe: part('describe'),
    trace: part('trace'),
    here: part('here'),
  }
  bridge.dispose()
  return parts
}
