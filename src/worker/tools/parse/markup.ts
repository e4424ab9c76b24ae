/** One piece of XML or HTML. Forgiving: feeds and pages in the wild are rarely well-formed. */
export type Token = Tag | { kind: 'text'; text: string }
type Tag = { kind: 'open'; name: string; attributes: string; isEmpty: boolean } | { kind: 'close'; name: string }

/**
 * Never looks at a character twice: what comes from outside may be megabytes of opening brackets. What is opened and not
 * ended reaches to the end of the source, as in browsers.
 */
export function* tokens(source: string, rawElements: ReadonlySet<string> = new Set()): Generator<Token> {
  let at = 0
  while (at < source.length) {
    const bracket = source.indexOf('<', at)
    if (bracket !== at) {
      const end = bracket === -1 ? source.length : bracket
      yield { kind: 'text', text: decodeEntities(source.slice(at, end)) }
      at = end
    } else if (source.startsWith('<!--', at)) at = endOf(source, '-->', at + 4)
    else if (source.startsWith('<![CDATA[', at)) {
      const end = endOf(source, ']]>', at + 9)
      yield { kind: 'text', text: source.slice(at + 9, source.startsWith(']]>', end - 3) ? end - 3 : end) }
      at = end
    } else if (/[!?]/.test(source.charAt(at + 1))) at = endOf(source, '>', at + 1)
    else if (/[A-Za-z]/.test(source.charAt(source.charAt(at + 1) === '/' ? at + 2 : at + 1))) {
      const [tag, end] = readTag(source, at)
      at = end
      if (!tag) continue
      yield tag
      const raw = tag.name.toLowerCase()
      if (tag.kind === 'open' && rawElements.has(raw)) at = startOfClosing(source, raw, at)
    } else {
      yield { kind: 'text', text: '<' }
      at++
    }
  }
}

const endOf = (source: string, end: string, from: number): number => {
  const found = source.indexOf(end, from)
  return found === -1 ? source.length : found + end.length
}

function startOfClosing(source: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'gi')
  closing.lastIndex = from
  return closing.exec(source)?.index ?? source.length
}

function readTag(source: string, start: number): [Tag | undefined, number] {
  const isClose = source.charAt(start + 1) === '/'
  const nameStart = start + (isClose ? 2 : 1)
  let at = nameStart
  while (at < source.length && !/[\s/>]/.test(source.charAt(at))) at++
  const name = source.slice(nameStart, at)
  const end = skipAttributes(source, at)
  if (end === source.length) return [undefined, end]
  const attributes = source.slice(at, end)
  const token: Tag = isClose
    ? { kind: 'close', name }
    : { kind: 'open', name, attributes, isEmpty: attributes.endsWith('/') }
  return [token, end + 1]
}

/** The place of the bracket that ends the tag. A quote counts only where a value may begin. */
function skipAttributes(source: string, from: number): number {
  let mayValueBegin = false
  for (let at = from; at < source.length; at++) {
    const character = source.charAt(at)
    if (character === '>') return at
    if (mayValueBegin && (character === '"' || character === "'")) at = endOf(source, character, at + 1) - 1
    if (!/\s/.test(character)) mayValueBegin = character === '='
  }
  return source.length
}

export function attribute(attributes: string, name: string): string | undefined {
  let at = 0
  const skip = (pattern: RegExp) => {
    const start = at
    while (at < attributes.length && pattern.test(attributes.charAt(at))) at++
    return attributes.slice(start, at)
  }
  while (at < attributes.length) {
    skip(/[\s/]/)
    const key = skip(/[^\s=/]/)
    skip(/\s/)
    let value = ''
    if (attributes.charAt(at) === '=') {
      at++
      skip(/\s/)
      value = readValue()
    }
    if (key.toLowerCase() === name) return decodeEntities(value)
  }
  return undefined

  function readValue(): string {
    const quote = attributes.charAt(at)
    if (quote !== '"' && quote !== "'") return skip(/\S/)
    const start = at + 1
    at = endOf(attributes, quote, start)
    return attributes.slice(start, attributes.charAt(at - 1) === quote ? at - 1 : at)
  }
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['laquo', '«'],
  ['raquo', '»'],
  ['bull', '•'],
  ['middot', '·'],
  ['copy', '©'],
  ['reg', '®'],
  ['trade', '™'],
  ['euro', '€'],
  ['pound', '£'],
  ['deg', '°'],
  ['times', '×'],
  ['auml', 'ä'],
  ['ouml', 'ö'],
  ['uuml', 'ü'],
  ['Auml', 'Ä'],
  ['Ouml', 'Ö'],
  ['Uuml', 'Ü'],
  ['szlig', 'ß'],
  ['eacute', 'é'],
  ['egrave', 'è'],
  ['agrave', 'à'],
  ['ccedil', 'ç'],
])

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]\w{1,31}));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return NAMED.get(name) ?? whole
      const code = hex === undefined ? Number(decimal) : parseInt(hex, 16)
      const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      return isCharacter ? String.fromCodePoint(code) : '\ufffd'
    },
  )
}
