import { err, ok, type Result } from '#engine/model/result.ts'

const MAX_LENGTH = 8_192
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|.+\.localhost)$/

/** Everything about an address is decided on its parsed form; the text a script wrote is never looked at again. */
export function readAddress(text: string): Result<URL, string> {
  if (text.length > MAX_LENGTH) return err(`the address is longer than ${MAX_LENGTH} characters`)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return err(`"${text.slice(0, 200)}" is not a complete address such as https://api.example.com/items`)
  }
  if (url.username !== '' || url.password !== '') {
    return err('a user name or password in the address is not possible; put a secret:NAME into a header')
  }
  if (url.protocol === 'https:') return ok(url)
  if (url.protocol !== 'http:') return err(`the address must begin with https://, not with ${url.protocol}`)
  // A browser refuses it too, but without telling whether a mutation was sent.
  if (!LOOPBACK.test(url.hostname)) return err('http:// is possible for this computer only (localhost); use https://')
  return ok(url)
}

export type SearchParams = Readonly<Record<string, string | number | boolean>>

export function withSearchParams(url: URL, params: SearchParams): URL {
  const extended = new URL(url)
  for (const [name, value] of Object.entries(params)) extended.searchParams.set(name, String(value))
  return extended
}
