/** `structuredClone` and `crypto.randomUUID`. */
export const cloneSource = String.raw`(function ({ defineHidden, define, isObject, random, StringOf }) {
const tagOf = Object.prototype.toString
const errorTypes = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }

function refuse(value) {
  const error = new Error(typeof value + ' cannot be cloned.')
  defineHidden(error, 'name', 'DataCloneError')
  throw error
}

function cloneOf(value, seen) {
  if (typeof value === 'symbol' || typeof value === 'function') refuse(value)
  if (!isObject(value)) return value
  if (seen.has(value)) return seen.get(value)
  const keep = (copy) => {
    seen.set(value, copy)
    return copy
  }
  if (value instanceof Date) return keep(new Date(value.getTime()))
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags))
  if (value instanceof ArrayBuffer) return keep(value.slice(0))
  if (ArrayBuffer.isView(value)) {
    const buffer = cloneOf(value.buffer, seen)
    const length = value instanceof DataView ? value.byteLength : value.length
    return keep(new value.constructor(buffer, value.byteOffset, length))
  }
  if (value instanceof Map) {
    const copy = keep(new Map())
    for (const [key, part] of [...value]) copy.set(cloneOf(key, seen), cloneOf(part, seen))
    return copy
  }
  if (value instanceof Set) {
    const copy = keep(new Set())
    for (const part of [...value]) copy.add(cloneOf(part, seen))
    return copy
  }
  if (value instanceof Error) {
    const type = Object.hasOwn(errorTypes, value.name) ? errorTypes[value.name] : Error
    const copy = keep(Object.create(type.prototype))
    defineHidden(copy, 'message', StringOf(value.message))
    defineHidden(copy, 'stack', StringOf(value.stack))
    if ('cause' in value) defineHidden(copy, 'cause', cloneOf(value.cause, seen))
    return copy
  }
  const tag = tagOf.call(value)
  if (tag === '[object Number]' || tag === '[object String]' || tag === '[object Boolean]' || tag === '[object BigInt]') {
    return keep(Object(value.valueOf()))
  }
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) refuse(value)
  const copy = keep(Array.isArray(value) ? new Array(value.length) : {})
  for (const key of Object.keys(value)) define(copy, key, cloneOf(value[key], seen))
  return copy
}

defineHidden(globalThis, 'structuredClone', (value) => cloneOf(value, new Map()))

function randomUUID() {
  let text = ''
  for (let i = 0; i < 32; i += 1) {
    if (i === 8 || i === 12 || i === 16 || i === 20) text += '-'
    const digit = Math.floor(random() * 16)
    text += (i === 12 ? 4 : i === 16 ? (digit & 3) | 8 : digit).toString(16)
  }
  return text
}
defineHidden(globalThis, 'crypto', { randomUUID })
})`
