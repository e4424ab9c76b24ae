export interface Place {
  path: string
  query: URLSearchParams
}

/** `#/runs/7?phase=x` → path `/runs/7`, query `phase=x`. */
export function parseHash(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  return { path: path === '' ? '/' : path, query: new URLSearchParams(search) }
}

/** What the `:names` of a pattern stand for in a path, or null when it is another path. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = segments(pattern)
  const given = segments(path)
  if (given.length > wanted.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i]
    const isOptional = part.endsWith('?')
    const name = part.startsWith(':') ? part.slice(1, isOptional ? -1 : undefined) : null
    if (value === undefined) {
      if (!isOptional) return null
    } else if (name !== null) params[name] = decode(value)
    else if (value !== part) return null
  }
  return params
}

const segments = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** A badly encoded address is shown as it is, not as a crash. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
