const PREFIX = 'holdfast-'
/** Hashed files never change: an older cache that has one has the right one. */
const HASHED = '/assets/'

export interface Release {
  version: string
  /** Relative to the application's address. */
  files: readonly string[]
}

const cacheNameOf = ({ version }: Release): string => `${PREFIX}${version}`

/** Brings every file of a release into a cache of its own; what an older release already has is not fetched again. */
export async function fillCache(storage: CacheStorage, release: Release, base: string): Promise<void> {
  const cache = await storage.open(cacheNameOf(release))
  for (const file of release.files) {
    const url = new URL(file, base).href
    if (await cache.match(url)) continue
    const known = url.includes(HASHED) ? await storage.match(url) : undefined
    const response = known ?? (await fetch(url, { cache: 'reload' }))
    if (!response.ok) throw new Error(`${url} answered ${response.status}`)
    await cache.put(url, response)
  }
}

/**
 * The release before this one is kept: a tab that still runs it may load one of its chunks. Caches are listed in the order in
 * which they were made.
 */
export async function dropOldCaches(storage: CacheStorage, release: Release): Promise<void> {
  const current = cacheNameOf(release)
  const others = (await storage.keys()).filter((name) => name.startsWith(PREFIX) && name !== current)
  await Promise.all(others.slice(0, -1).map((name) => storage.delete(name)))
}

/** The file of a release that answers a request: pages are all the one page, everything else is itself. */
export async function answerFrom(
  storage: CacheStorage,
  release: Release,
  request: Pick<Request, 'mode' | 'url'>,
  base: string,
): Promise<Response | undefined> {
  const cache = await storage.open(cacheNameOf(release))
  if (request.mode === 'navigate') return cache.match(new URL('index.html', base).href)
  return (await cache.match(request.url)) ?? storage.match(request.url)
}
