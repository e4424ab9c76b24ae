export type WordKind = 'keyword' | 'text' | 'number' | 'comment' | 'plain'

export interface Word {
  text: string
  kind: WordKind
}

const KEYWORDS = new Set(
  `all and as asc between by case cast collate count cross desc distinct else end escape except exists explain filter from full glob group
  having in inner intersect is isnull join left like limit materialized natural not notnull null nulls offset on or order outer over
  partition plan pragma query recursive right select then union using values when where window with`.split(/\s+/),
)
const PART = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|\b(\d+(?:\.\d+)?)\b|([A-Za-z_]\w*)|([\s\S])/g

/** A query in pieces that are coloured alike. Together they are the text again. */
export function sqlWords(sql: string): Word[] {
  const words: Word[] = []
  for (const [text, comment, quoted, number, name] of sql.matchAll(PART)) {
    const kind = kindOf({ comment, quoted, number, name })
    const last = words.at(-1)
    if (last?.kind === kind) last.text += text
    else words.push({ text, kind })
  }
  return words
}

function kindOf(found: Record<'comment' | 'quoted' | 'number' | 'name', string | undefined>): WordKind {
  if (found.comment !== undefined) return 'comment'
  if (found.quoted !== undefined) return 'text'
  if (found.number !== undefined) return 'number'
  return found.name !== undefined && KEYWORDS.has(found.name.toLowerCase()) ? 'keyword' : 'plain'
}
