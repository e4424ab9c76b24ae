import type { Json, JsonObject } from '../model/json.ts'

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Own properties only: what a script calls `constructor` must not be found on every object. */
export const ownProperty = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** What a value is, in the words of a sentence: "…, not an array". */
export function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value}`
}

/** Names for a sentence: `"a", "b"`, or `none`. */
export const quoteAll = (names: readonly string[]): string =>
  names.length === 0 ? 'none' : names.map((name) => JSON.stringify(name)).join(', ')
