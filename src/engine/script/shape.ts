import type { Json, JsonObject } from '../model/json.ts'
import { isJsonObject, kindOf, ownProperty } from './json-kind.ts'
import { closestOf } from './suggestion.ts'

export type ShapePath = readonly string[]

/** What is wrong with a part of the workflow object. The path tells where; lines and columns come later. */
export interface ShapeProblem {
  severity: 'error' | 'warning'
  path: ShapePath
  message: string
}

/** Collects all problems: a script is told everything at once. */
export interface ShapeReport {
  readonly problems: readonly ShapeProblem[]
  error(path: ShapePath, message: string): void
  warning(path: ShapePath, message: string): void
}

export function createShapeReport(): ShapeReport {
  const problems: ShapeProblem[] = []
  return {
    problems,
    error: (path, message) => void problems.push({ severity: 'error', path, message }),
    warning: (path, message) => void problems.push({ severity: 'warning', path, message }),
  }
}

/** The sandbox writes what is not JSON as an object with one of these keys. */
const MARKS = ['$function', '$unsupported', '$cycle', '$omitted'] as const

const hasMark = (value: Json | undefined, mark: (typeof MARKS)[number]): boolean =>
  isJsonObject(value) && Object.hasOwn(value, mark)

export const isFunctionShape = (value: Json | undefined): boolean => hasMark(value, '$function')

/** An object that the script wrote, not a mark of the sandbox. */
export const isPlainShape = (value: Json | undefined): value is JsonObject =>
  isJsonObject(value) && !MARKS.some((mark) => hasMark(value, mark))

/** What a part of the workflow object is, for a sentence: "…, not a function". */
export function shapeKindOf(value: Json | undefined): string {
  if (hasMark(value, '$function')) return 'a function'
  if (hasMark(value, '$cycle')) return 'an object that contains itself'
  if (hasMark(value, '$omitted')) return 'too large or too deeply nested'
  const unsupported = isJsonObject(value) ? ownProperty(value, '$unsupported') : undefined
  if (unsupported === 'number') return 'not a finite number'
  if (typeof unsupported === 'string') return `a ${unsupported}`
  return kindOf(value)
}

/** A key that nobody reads is most often misspelt. */
export function warnOfUnknownKeys(
  report: ShapeReport,
  path: ShapePath,
  object: JsonObject,
  known: readonly string[],
  owner: string,
): void {
  for (const key of Object.keys(object)) {
    if (known.includes(key)) continue
    const meant = closestOf(
      key,
      known.filter((name) => !Object.hasOwn(object, name)),
    )
    const advice =
      meant === undefined ? `It has ${known.join(', ')}; anything else is ignored.` : `Did you mean "${meant}"?`
    report.warning([...path, key], `${owner} has the unknown key ${JSON.stringify(key)}. ${advice}`)
  }
}
