/**
 * The guest's side of the protocol, evaluated before anything of the user. Every intrinsic it needs later is captured here:
 * whatever the script overrides afterwards (`JSON.parse`, `Promise.prototype.then`, `Array.prototype`) harms only the
 * script. For the same reason nothing below iterates, spreads, destructures arrays or calls a method of a value.
 *
 * `hostCall(id, op, json)` with id 0 is answered at once (`now`, `random`, `log`, `limit`, `url`), any other id later
 * through `settle`. Text that leaves is always JSON or starts with a letter: an empty text means that memory ran out.
 */
export const bridgeSource = String.raw`(function (hostCall) {
const { apply, construct, defineProperty, ownKeys } = Reflect
const { parse, stringify } = JSON
const { create, hasOwn, getPrototypeOf } = Object
const { isArray } = Array
const PromiseOf = Promise, ErrorOf = Error, TypeErrorOf = TypeError, StringOf = String, InternalErrorOf = InternalError
const method = (fn) => (self, ...args) => apply(fn, self, args)
const slice = method(StringOf.prototype.slice)
const hostErrors = new WeakMap()
const rememberHostError = method(hostErrors.set), hostErrorOf = method(hostErrors.get)
const define = (target, key, value) =>
  defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true })
const defineHidden = (target, key, value) =>
  defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true })
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'

let workflow
let valueChars = 8388608
let errorChars = 2000

function refuseLimit(name) {
  hostCall(0, 'limit', stringify(name))
  throw new ErrorOf('stopped')
}

const waiting = create(null)
let lastId = 0

/**
 * The error is made where the call is made: if the host refuses, it carries the user's line. A script that was stopped is
 * thrown out of its loop rather than left to pile up promises until QuickJS next asks whether to go on.
 */
function call(op, args) {
  const trace = new ErrorOf(op)
  let isStopped = false
  const promise = new PromiseOf((resolve, reject) => {
    const text = stringify(args)
    if (text.length > valueChars) refuseLimit('valueBytes')
    lastId += 1
    waiting[lastId] = { __proto__: null, resolve, reject, trace }
    isStopped = hostCall(lastId, op, text) === -1
  })
  if (isStopped) throw trace
  return promise
}

function settle(id, isValue, text) {
  const { resolve, reject, trace } = waiting[id]
  delete waiting[id]
  if (isValue) {
    try {
      resolve(text === undefined ? undefined : parse(text))
    } catch (error) {
      reject(error)
    }
    return
  }
  const failure = parse(text)
  defineHidden(trace, 'message', failure.message)
  define(trace, 'type', failure.type)
  if (failure.retryAfterMs !== undefined) define(trace, 'retryAfterMs', failure.retryAfterMs)
  rememberHostError(hostErrors, trace, id)
  reject(trace)
}

/** Where a call was made that is still waiting. */
const trace = (id) => report(waiting[id].trace)
const here = () => report(new ErrorOf('here'))

const shorten = (value) => (typeof value === 'string' ? slice(value, 0, errorChars) : '')

/** What was thrown, as JSON text. The script's objects are read once and with care; its claims about itself are only text. */
function report(error) {
  try {
    if (!isObject(error)) {
      const text = typeof error === 'string' ? error : 'The script threw ' + StringOf(error) + '.'
      return '{"message":' + stringify(shorten(text)) + '}'
    }
    const stack = stringify(shorten(error.stack))
    const id = hostErrorOf(hostErrors, error)
    if (id !== undefined) return '{"host":' + id + ',"stack":' + stack + '}'
    const ours = error instanceof InternalErrorOf ? ',"internal":true' : ''
    return '{"name":' + stringify(shorten(error.name)) + ',"message":' + stringify(shorten(error.message)) + ours +
      ',"stack":' + stack + '}'
  } catch {
    return '{"message":"The script threw something that cannot be read."}'
  }
}

function load(factory) {
  try {
    const exports = {}
    const binding = factory(exports)
    workflow = exports.default === undefined ? binding : exports.default
    return 'L'
  } catch (error) {
    return 'E' + report(error)
  }
}

function findHandler(phase, name) {
  const isProducer = phase === 'producer'
  const group = isObject(workflow) ? (isProducer ? workflow.producers : workflow.consumers) : undefined
  const kind = isProducer ? 'producer' : 'consumer'
  if (!isObject(workflow)) throw new ErrorOf('The script has no workflow: export one by "export default defineWorkflow({ … })".')
  if (!isObject(group) || !hasOwn(group, name)) throw new ErrorOf('The workflow has no ' + kind + ' named "' + name + '".')
  const owner = group[name]
  const key = isProducer ? 'handler' : phase
  const fn = isObject(owner) ? owner[key] : undefined
  if (typeof fn !== 'function') throw new ErrorOf('The ' + kind + ' "' + name + '" has no function "' + key + '".')
  return { __proto__: null, owner, fn }
}

function place(root, path, value) {
  let target = root
  for (let i = 0; i < path.length - 1; i += 1) {
    if (!hasOwn(target, path[i]) || !isObject(target[path[i]])) define(target, path[i], {})
    target = target[path[i]]
  }
  define(target, path[path.length - 1], value)
}

/**
 * Most of ctx is the same in every phase, and making it costs more than a small phase does. It is made before the script is
 * evaluated, so that the image of the script has it already; the script cannot reach it before its handler is called.
 */
const ctx = {}
function furnish(text) {
  const operations = parse(text)
  for (let i = 0; i < operations.length; i += 1) {
    const op = operations[i].op
    place(ctx, operations[i].path, (...args) => call(op, args))
  }
  define(ctx, 'log', { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') })
  define(ctx, 'now', now)
  define(ctx, 'random', random)
}

/** Values stand beside the operations of the same name space; what is there already stays. */
function merge(target, values) {
  const keys = ownKeys(values)
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i]
    if (!hasOwn(target, key)) define(target, key, values[key])
    else if (typeof target[key] === 'object' && isObject(values[key])) merge(target[key], values[key])
  }
}

function describe() {
  try {
    const text = stringify(tools.shapeOf(workflow))
    if (text.length > valueChars) refuseLimit('valueBytes')
    return 'V' + text
  } catch (error) {
    return 'E' + report(error)
  }
}

function encode(value) {
  if (value === undefined) return 'U'
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeErrorOf('The handler returned a ' + typeof value + ', which cannot be written as JSON.')
  }
  const text = stringify(value)
  if (text === undefined) return 'U'
  if (text.length > valueChars) refuseLimit('valueBytes')
  return 'V' + text
}

let given = []
/** Arguments come one at a time, so that no text is longer than one value may be. */
function give(text) {
  given[given.length] = parse(text)
}

/** Whatever is still left to do is of no interest any more: the host is told before anything else can run. */
function conclude(answer) {
  hostCall(0, 'conclude', 'null')
  return answer
}

async function start(text) {
  const setup = parse(text)
  valueChars = setup.valueChars
  errorChars = setup.errorChars
  try {
    const { owner, fn } = findHandler(setup.phase, setup.handler)
    const args = given
    given = []
    merge(ctx, setup.values)
    args[args.length] = ctx
    return conclude(encode(await apply(fn, owner, args)))
  } catch (error) {
    return conclude('E' + report(error))
  }
}

function valueOfHost(op, what) {
  const value = hostCall(0, op, 'null')
  if (value === undefined) {
    throw new ErrorOf(what + ' is not available at the top level of a script: it would be the same in every run. Use it in a handler.')
  }
  return value
}
function now() {
  return valueOfHost('now', 'The time')
}
function random() {
  return valueOfHost('random', 'Chance')
}

function show(value) {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return StringOf(value) + 'n'
  if (!isObject(value) || typeof value === 'symbol') return StringOf(value)
  if (typeof value === 'function') return '[function]'
  try {
    if (value instanceof ErrorOf) return StringOf(value.name) + ': ' + StringOf(value.message)
    const text = stringify(value)
    return text === undefined ? StringOf(value) : text
  } catch {
    return '[object that cannot be shown]'
  }
}
function log(level) {
  return (...args) => {
    let message = ''
    for (let i = 0; i < args.length; i += 1) message += (i === 0 ? '' : ' ') + show(args[i])
    if (message.length > valueChars) refuseLimit('logBytes')
    hostCall(0, 'log', '["' + level + '",' + stringify(message) + ']')
  }
}

const tools = {
  __proto__: null, apply, construct, define, defineHidden, ownKeys, hasOwn, create, getPrototypeOf, isArray, isObject,
  parse, stringify, method, hostCall, call, now, random, log, show, StringOf, ErrorOf, TypeErrorOf,
}
return { __proto__: null, tools, furnish, load, give, start, settle, report, describe, trace, here }
})`
