import type { ScriptProblem } from '#engine/ports/sandbox.ts'
import { problemAt, quoteTokenAt } from './script-text.ts'

export const tooDeep = (text: string): ScriptProblem =>
  problemAt(text, 0, 'The script is nested too deeply to be read. Split it into smaller functions and constants.')

/** Both parsers throw the position as `pos` and repeat it at the end of the message. Anything else is a mistake of ours. */
export function syntaxErrorToProblem(error: unknown, text: string): ScriptProblem {
  if (error instanceof RangeError) return tooDeep(text)
  if (!(error instanceof SyntaxError) || !('pos' in error) || typeof error.pos !== 'number') throw error
  const message = error.message
    .replace(/ \(\d+:\d+\)$/, '')
    .replace(/^unexpected token/i, `unexpected ${quoteTokenAt(text, error.pos)}`)
  return problemAt(text, error.pos, `Syntax error: ${message.charAt(0).toLowerCase()}${message.slice(1)}.`)
}
