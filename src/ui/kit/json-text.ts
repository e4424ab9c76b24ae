import type { Json } from '#engine/model/json.ts'

/** What a person wrote as JSON, or a sentence that says what is wrong with it and where. */
export function readJson(text: string): { value: Json } | { problem: string } {
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return { problem: `This is not JSON: ${sentenceOf(text)}` }
  }
}

/** Browsers tell the place in some of their messages only, and each in its own words. */
function sentenceOf(text: string): string {
  const { at, wanted } = findMistake(text)
  const lines = text.slice(0, at).split('\n')
  const found = /\S/.exec(text.slice(at))?.[0]
  const instead = found === undefined ? 'but the text ends there' : `not ${found}`
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1} should be ${wanted}, ${instead}.`
}

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/** Reads until it does not go on. Lists and objects that are open are kept in a list: nesting costs no stack. */
function findMistake(text: string): { at: number; wanted: string } {
  let at = 0
  const open: ('[' | '{')[] = []
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.test(text)
    if (found) at = pattern.lastIndex
    return found
  }
  const sign = (character: string): boolean => {
    take(SPACE)
    if (text[at] !== character) return false
    at += 1
    return true
  }
  const isKey = (): boolean => (take(SPACE), take(STRING))
  const wants = (wanted: string) => ({ at, wanted })

  for (;;) {
    // A value is to begin here, and in an object its key before it.
    if (open.at(-1) === '{') {
      if (!isKey()) return wants('a name in double quotes')
      if (!sign(':')) return wants('a colon')
    }
    let isBegun = false
    if (sign('[')) isBegun = !endsAtOnce(']', '[')
    else if (sign('{')) isBegun = !endsAtOnce('}', '{')
    else if (!take(STRING) && !take(SCALAR)) return wants('a value')
    if (isBegun) continue
    for (;;) {
      const inside = open.at(-1)
      if (inside === undefined) return (take(SPACE), wants('the end'))
      const end = inside === '[' ? ']' : '}'
      if (sign(',')) break
      if (!sign(end)) return wants(`a comma or ${end}`)
      open.pop()
    }
  }

  function endsAtOnce(end: string, begin: '[' | '{'): boolean {
    if (sign(end)) return true
    open.push(begin)
    return false
  }
}
