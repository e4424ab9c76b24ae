import type { Json, JsonText } from '../model/json.ts'

/**
 * SQLite reads JSON up to 1,000 levels deep, and the host's own stack ends somewhere above that. Half of it leaves room for what
 * is put around a value before it is stored.
 */
const MAX_LEVELS = 500

/** For sentences: "its arguments …". */
export const TOO_DEEP = `is nested more than ${MAX_LEVELS} levels deep`

/** Without parsing it: whoever parses or prints what is too deep may run out of stack. */
export function isTextTooDeep(text: JsonText): boolean {
  if (text.length <= MAX_LEVELS) return false
  let level = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') at = endOfString(text, at)
    else if (char === '[' || char === '{') {
      level += 1
      if (level > MAX_LEVELS) return true
    } else if (char === ']' || char === '}') level -= 1
  }
  return false
}

function endOfString(text: JsonText, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

/** Level by level instead of by recursion. */
export function isValueTooDeep(value: Json): boolean {
  let containers: Json[] = [value]
  for (let level = 0; containers.length > 0; level += 1) {
    if (level > MAX_LEVELS) return true
    containers = containers.flatMap(childContainers)
  }
  return false
}

const childContainers = (value: Json): Json[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.values(value).filter((child) => typeof child === 'object' && child !== null)
