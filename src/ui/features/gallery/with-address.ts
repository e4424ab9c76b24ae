import { err, ok, type Result } from '#engine/model/result.ts'
import type { WorkflowTemplate } from './template.ts'

/** The source of a template with the user's own address in it, and with the permission to reach that host and no other. */
export function withAddress(template: WorkflowTemplate, address: string): Result<string, string> {
  const example = template.address?.example
  if (example === undefined) return ok(template.source)
  const url = parseUrl(address.trim())
  if (url === undefined) return err('This is not an address. It has to look like https://example.com/page.')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return err(`An address here begins with https:// or http://, not with ${url.protocol}//.`)
  if (url.username !== '' || url.password !== '')
    return err('Leave the user name and password out of the address: keep them as a secret in the settings.')
  return ok(
    template.source
      // A function, because a "$&" in the address would otherwise mean something.
      .replace(`'${example}'`, () => `'${url.href.replace(/[\\']/g, '\\$&')}'`)
      .replace(`'http:${new URL(example).host}'`, () => `'http:${url.host}'`),
  )
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
