import type { Json, JsonObject } from '#engine/model/json.ts'

/**
 * The part of JSON Schema that language models are asked with: type, properties, required, additionalProperties, items,
 * enum, const, anyOf/oneOf/allOf, lengths and ranges. Returns what is wrong, with the place; an unknown keyword demands
 * nothing.
 */
export function problemWithValue(schema: Json, value: Json, place = 'the answer'): string | undefined {
  if (schema === true || !isObject(schema)) return schema === false ? `${place} should not be there` : undefined
  return (
    problemWithType(schema, value, place) ??
    problemWithChoice(schema, value, place) ??
    problemWithSize(schema, value, place) ??
    (Array.isArray(value) ? problemWithItems(schema, value, place) : undefined) ??
    (isObject(value) ? problemWithProperties(schema, value, place) : undefined)
  )
}

function problemWithType(schema: JsonObject, value: Json, place: string): string | undefined {
  const type = schema['type']
  if (type === undefined) return undefined
  const allowed = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
  return allowed.some((one) => hasType(one, value))
    ? undefined
    : `${place} should be ${allowed.join(' or ')}, not ${typeName(value)}`
}

function problemWithChoice(schema: JsonObject, value: Json, place: string): string | undefined {
  const options = schema['enum']
  if (Array.isArray(options) && !options.some((option) => isSame(option, value))) {
    return `${place} should be one of ${JSON.stringify(options)}`
  }
  if (schema['const'] !== undefined && !isSame(schema['const'], value))
    return `${place} should be ${JSON.stringify(schema['const'])}`
  const all = schema['allOf']
  for (const part of Array.isArray(all) ? all : []) {
    const problem = problemWithValue(part, value, place)
    if (problem !== undefined) return problem
  }
  const any = schema['anyOf'] ?? schema['oneOf']
  if (!Array.isArray(any) || any.some((part) => problemWithValue(part, value, place) === undefined)) return undefined
  return `${place} fits none of the forms it may have`
}

function problemWithSize(schema: JsonObject, value: Json, place: string): string | undefined {
  const [size, least, most] =
    typeof value === 'number'
      ? [value, schema['minimum'], schema['maximum']]
      : typeof value === 'string'
        ? [value.length, schema['minLength'], schema['maxLength']]
        : Array.isArray(value)
          ? [value.length, schema['minItems'], schema['maxItems']]
          : [0, undefined, undefined]
  if (typeof least === 'number' && size < least) return `${place} is below ${least}`
  if (typeof most === 'number' && size > most) return `${place} is above ${most}`
  return undefined
}

function problemWithItems(schema: JsonObject, items: readonly Json[], place: string): string | undefined {
  const form = schema['items']
  if (form === undefined) return undefined
  for (const [index, item] of items.entries()) {
    const problem = problemWithValue(form, item, `${place}[${index}]`)
    if (problem !== undefined) return problem
  }
  return undefined
}

function problemWithProperties(schema: JsonObject, value: JsonObject, place: string): string | undefined {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = (Array.isArray(schema['required']) ? schema['required'] : []).filter(
    (name) => typeof name === 'string',
  )
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return `${place} has no "${missing}"`
  for (const [name, inner] of Object.entries(value)) {
    const form = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties']
    const problem = form === undefined ? undefined : problemWithValue(form, inner, `${place}.${name}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const typeName = (value: Json): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const hasType = (type: string, value: Json): boolean =>
  type === 'integer' ? Number.isInteger(value) : type === typeName(value)

/** For short lists of simple values; the order of keys counts. */
const isSame = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b)
