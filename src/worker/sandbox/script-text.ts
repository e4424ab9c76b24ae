import type { SourcePosition } from '#engine/model/errors.ts'
import type { ScriptProblem } from '#engine/ports/sandbox.ts'

const MAX_TOKEN_CHARS = 30

/** Lines and columns count from 1; a column counts UTF-16 units, as editors do. */
export function positionAt(text: string, offset: number): SourcePosition & { column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

export const problemAt = (text: string, offset: number, message: string): ScriptProblem => ({
  severity: 'error',
  message,
  ...positionAt(text, offset),
})

/** What stands at an offset, for a sentence: `"foo"`, `"}"`, `end of the script`. */
export function quoteTokenAt(text: string, offset: number): string {
  const token = /^(?:[\w$]+|\S)/u.exec(text.slice(offset).trimStart())?.[0]
  return token === undefined ? 'end of the script' : `"${token.slice(0, MAX_TOKEN_CHARS)}"`
}
