/** Headers that belong to the browser: it would drop them without a word. */
const FORBIDDEN = new Set([
  'accept-charset',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'date',
  'dnt',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'referer',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
])

export function problemWithHeaders(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return `"${name}" cannot be the name of a header`
    if (FORBIDDEN.has(lower) || lower.startsWith('proxy-') || lower.startsWith('sec-')) {
      return `the header ${name} belongs to the browser and cannot be set`
    }
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return `the header ${name} holds a line end or a letter that no header can hold`
  }
  return undefined
}

/** Adds what is not there yet, whatever its case. */
export function withDefaults(
  headers: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const missing = Object.entries(defaults).filter(([name]) => !given.has(name.toLowerCase()))
  return { ...Object.fromEntries(missing), ...headers }
}

/** Seconds or a date; what is neither, or has passed, is no wish at all. */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const text = value.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // Date.parse accepts far too much; a date in a header has a day's name, a month's name and GMT.
  const at = /^[A-Z][a-z]{2,8},? .*GMT$/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
