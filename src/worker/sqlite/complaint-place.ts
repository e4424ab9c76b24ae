const NAMED =
  /^(?:no such (?:column|table|function|module|collation sequence)|ambiguous column name): (?:[^\s]*\.)?(\S+)/
const NEAR = /^near "([\s\S]+)": syntax error/

/**
 * Where in the text the thing is that SQLite complains of, as offsets; sql.js does not tell what SQLite knows about it. A word of the
 * grammar may be there several times: the one that is meant is the first after which the text, cut off there, is wrong already.
 */
export function placeOfComplaint(
  message: string,
  sql: string,
  complaint: (part: string) => string | null,
): { from: number; to: number } | null {
  const near = NEAR.exec(message)?.[1]
  if (near !== undefined) {
    const spots = [...occurrences(sql, near)]
    const from = spots.find((at) => complaint(sql.slice(0, at + near.length))?.startsWith('near ')) ?? spots.at(-1)
    return from === undefined ? null : { from, to: from + near.length }
  }
  if (message.startsWith('incomplete input')) return { from: sql.trimEnd().length, to: sql.trimEnd().length }
  const name = NAMED.exec(message)?.[1]
  if (name === undefined) return null
  const isWord = (at: number): boolean => !/\w/.test(sql[at - 1] ?? ' ') && !/\w/.test(sql[at + name.length] ?? ' ')
  const from = [...occurrences(sql, name)].find(isWord)
  return from === undefined ? null : { from, to: from + name.length }
}

function* occurrences(text: string, part: string): Generator<number> {
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) yield at
}
