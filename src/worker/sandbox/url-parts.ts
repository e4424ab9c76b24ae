const parts = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const

type Part = (typeof parts)[number]

const isSettable = (name: string): name is Exclude<Part, 'origin'> =>
  name !== 'origin' && parts.some((part) => part === name)

function parseUrl(href: string, base: string | undefined): URL | undefined {
  try {
    return new URL(href, base)
  } catch {
    return undefined
  }
}

/** `["parse", href, base?]` or `["set", href, part, value]`: the parts of the resulting address, undefined when it is none. */
export function answerUrl(json: string): string | undefined {
  const [verb, href = '', third, value = ''] = JSON.parse(json) as string[]
  const url = parseUrl(href, verb === 'parse' ? third : undefined)
  if (url === undefined) return undefined
  if (verb === 'set' && third !== undefined && isSettable(third)) {
    if (third === 'href' && parseUrl(value, undefined) === undefined) return undefined
    url[third] = value
  }
  return JSON.stringify(Object.fromEntries(parts.map((part) => [part, url[part]])))
}
