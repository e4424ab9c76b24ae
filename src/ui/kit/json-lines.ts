export type JsonTokenKind = 'key' | 'text' | 'number' | 'word' | 'plain'
export interface JsonToken {
  kind: JsonTokenKind
  text: string
}

/** Above this nobody reads it on a screen; copying gives the whole of it. */
const LONGEST = 200_000
const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g

/** Indented; text that is no JSON is shown as it is. */
export function prettyJson(text: string): string {
  if (text.length > LONGEST) return `${text.slice(0, LONGEST)}\n… cut here: ${text.length} characters in all`
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** One line of pretty JSON in coloured pieces. */
export function jsonTokens(line: string): JsonToken[] {
  const tokens: JsonToken[] = []
  let end = 0
  for (const match of line.matchAll(TOKEN)) {
    const [, quoted, colon, number] = match
    if (match.index > end) tokens.push({ kind: 'plain', text: line.slice(end, match.index) })
    if (quoted !== undefined) tokens.push({ kind: colon === undefined ? 'text' : 'key', text: quoted })
    else tokens.push({ kind: number === undefined ? 'word' : 'number', text: match[0] })
    if (colon !== undefined) tokens.push({ kind: 'plain', text: colon })
    end = match.index + match[0].length
  }
  if (end < line.length) tokens.push({ kind: 'plain', text: line.slice(end) })
  return tokens
}
