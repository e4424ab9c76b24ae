import { EngineBug } from '#engine/model/errors.ts'
import type { JsonObject } from '#engine/model/json.ts'
import type { Row } from './database.ts'

/** Rows are parsed, not cast: a value of the wrong kind is found where it is read, and named. */

export function text(row: Row, column: string): string {
  const value = row[column]
  return typeof value === 'string' ? value : unreadable(row, column, 'text')
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

export function integer(row: Row, column: string): number {
  const value = row[column]
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : unreadable(row, column, 'a whole number')
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column)
}

export function oneOf<T extends string>(row: Row, column: string, members: readonly T[]): T {
  const value = row[column]
  const member = members.find((candidate) => candidate === value)
  return member ?? unreadable(row, column, `one of ${members.join(', ')}`)
}

export function oneOfOrNull<T extends string>(row: Row, column: string, members: readonly T[]): T | null {
  return row[column] === null ? null : oneOf(row, column, members)
}

export function textList(row: Row, column: string): string[] {
  const source = text(row, column)
  if (source === '[]') return []
  const list: unknown = JSON.parse(source)
  return Array.isArray(list) && list.every((item) => typeof item === 'string')
    ? list
    : unreadable(row, column, 'a list of texts')
}

export function listOf<T extends string>(row: Row, column: string, members: readonly T[]): T[] {
  return textList(row, column).map((item) => oneOf({ [column]: item }, column, members))
}

export function jsonObject(row: Row, column: string): JsonObject {
  const value: unknown = JSON.parse(text(row, column))
  return isJsonObject(value) ? value : unreadable(row, column, 'a JSON object')
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function unreadable(row: Row, column: string, expected: string): never {
  const id = typeof row['id'] === 'string' ? ` of ${row['id']}` : ''
  throw new EngineBug(`The database holds ${JSON.stringify(row[column])} as ${column}${id}; expected ${expected}.`)
}
