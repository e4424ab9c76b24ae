/**
 * A permission is a namespace, or a namespace and a scope: `notify`, `files:reports`, `http:*.example.com:8443`.
 * Nothing is covered unless it is understood: what cannot be read grants nothing.
 */
export function covers(granted: string, needed: string): boolean {
  const [grant, need] = [splitPermission(granted), splitPermission(needed)]
  if (grant.namespace !== need.namespace || grant.namespace === '') return false
  if (grant.namespace === 'http') return hostCovers(grant.scope, need.scope)
  if (grant.namespace === 'files') return grant.scope !== undefined && grant.scope !== '' && grant.scope === need.scope
  return grant.scope === undefined || grant.scope === need.scope
}

/** The permission a request to this address needs. Takes the parsed address, never the text a script wrote. */
export const permissionForUrl = (url: URL): string => `http:${hostPermission(url)}`

/** `example.com`, or `example.com:8443` when the port is not the one everybody expects. */
function hostPermission(url: URL): string {
  const host = withoutTrailingDot(url.hostname)
  return url.port === '' ? host : `${host}:${url.port}`
}

/** Whether a list such as the hosts of a secret has one that covers the address. */
export const isHostAmong = (hosts: readonly string[], url: URL): boolean =>
  hosts.some((host) => hostCovers(host, hostPermission(url)))

/** What a person reads in the permission review; undefined when the text is no permission that anything could need. */
export function describePermission(permission: string): string | undefined {
  const { namespace, scope } = splitPermission(permission)
  switch (namespace) {
    case 'http':
      if (scope === '*') return 'Send and fetch data anywhere on the internet'
      return scope !== undefined && readHostPattern(scope) ? `Send and fetch data at ${scope}` : undefined
    case 'files':
      return scope ? `Read, write and delete files in your folder "${scope}"` : undefined
    case 'github':
      return scope ? `Read and write on GitHub, only ${scope}` : 'Read and write everything your GitHub token may'
    case 'llm':
      return scope
        ? `Ask the language model "${scope}", which may cost money`
        : 'Ask language models, which may cost money'
    default:
      return scope === undefined ? SIMPLE.get(namespace) : undefined
  }
}

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['notify', 'Show notifications'],
  ['clipboard', 'Write to the clipboard'],
  ['demo', 'Use the demo inbox, sheet and chat'],
])

function splitPermission(permission: string): { namespace: string; scope: string | undefined } {
  const colon = permission.indexOf(':')
  if (colon === -1) return { namespace: permission, scope: undefined }
  return { namespace: permission.slice(0, colon), scope: permission.slice(colon + 1) }
}

interface HostPattern {
  /** With `isWildcard`, what must follow the dot: any name below it, never the name itself. */
  host: string
  isWildcard: boolean
  /** Undefined: the usual port of the protocol; `*`: any. */
  port: string | undefined
}

function hostCovers(granted: string | undefined, needed: string | undefined): boolean {
  if (granted === undefined || needed === undefined) return false
  if (granted === '*') return needed === '*' || readHostPattern(needed) !== undefined
  const [grant, need] = [readHostPattern(granted), readHostPattern(needed)]
  if (!grant || !need || need.isWildcard) return false
  if (grant.port !== '*' && grant.port !== need.port) return false
  return grant.isWildcard ? need.host.endsWith(`.${grant.host}`) && !isAddress(need.host) : need.host === grant.host
}

/** The URL parser brings case, punycode, full-width letters and every way to write an IP address to one form. */
function readHostPattern(text: string): HostPattern | undefined {
  const match = /^(\*\.)?(\[[\da-f:.]+\]|[^\s/?#@:*\\[\]]+)(?::(\d{1,5}|\*))?$/iu.exec(text)
  if (!match?.[2]) return undefined
  const isWildcard = match[1] !== undefined
  const url = parseUrl(`https://${match[2]}/`)
  if (!url || url.hostname === '') return undefined
  const host = withoutTrailingDot(url.hostname)
  if (host === '' || (isWildcard && isAddress(host))) return undefined
  const port = match[3] === '443' || match[3] === '80' ? undefined : match[3]
  return { host, isWildcard, port }
}

const isAddress = (host: string): boolean => host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host)

/** `example.com.` is the same machine as `example.com`. */
const withoutTrailingDot = (host: string): string => host.replace(/\.$/, '')

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
