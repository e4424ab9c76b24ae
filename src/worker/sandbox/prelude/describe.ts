/**
 * What the workflow object looks like from outside. The object is the script's: it may have getters, be a proxy, contain
 * itself or never end, so the walk is bounded in depth and size and tells what it left out.
 */
export const describeSource = String.raw`(function (tools) {
const { define, isArray, isObject } = tools
const { keys } = Object
const { isFinite } = Number
const MAX_DEPTH = 24, MAX_PARTS = 20000
let parts = 0

function shapeOf(value, depth, above) {
  parts += 1
  if (parts > MAX_PARTS || depth > MAX_DEPTH) return { $omitted: true }
  if (typeof value === 'function') return { $function: true }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && isFinite(value)) return value
  if (!isObject(value)) return { $unsupported: typeof value }
  for (let link = above; link !== null; link = link.above) if (link.value === value) return { $cycle: true }
  const inside = { __proto__: null, value, above }
  if (isArray(value)) {
    const list = []
    for (let i = 0; i < value.length && parts <= MAX_PARTS; i += 1) define(list, i, shapeOf(value[i], depth + 1, inside))
    return list
  }
  const shape = {}
  const names = keys(value)
  for (let i = 0; i < names.length && parts <= MAX_PARTS; i += 1) {
    const part = value[names[i]]
    if (part !== undefined) define(shape, names[i], shapeOf(part, depth + 1, inside))
  }
  return shape
}

tools.shapeOf = (workflow) => {
  parts = 0
  return workflow === undefined || workflow === null ? null : shapeOf(workflow, 0, null)
}
})`
