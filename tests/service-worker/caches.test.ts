import { answerFrom, dropOldCaches, fillCache } from '#service-worker/caches.ts'
import { beforeEach, describe, expect, it, vi } from 'vitest'

const BASE = 'https://example.com/app/'
const release = (version: string, ...files: string[]) => ({ version, files: ['index.html', ...files] })

class MemoryCache {
  readonly entries = new Map<string, Response>()
  match = (url: string) => Promise.resolve(this.entries.get(url)?.clone())
  put = (url: string, response: Response) => {
    this.entries.set(url, response)
    return Promise.resolve()
  }
}

class MemoryCaches {
  readonly caches = new Map<string, MemoryCache>()
  open = (name: string) => {
    const cache = this.caches.get(name) ?? new MemoryCache()
    this.caches.set(name, cache)
    return Promise.resolve(cache)
  }
  keys = () => Promise.resolve([...this.caches.keys()])
  delete = (name: string) => Promise.resolve(this.caches.delete(name))
  match = async (url: string) => {
    for (const cache of this.caches.values()) {
      const found = await cache.match(url)
      if (found) return found
    }
    return undefined
  }
}

let storage: CacheStorage
let fetched: string[]

beforeEach(() => {
  storage = new MemoryCaches() as unknown as CacheStorage
  fetched = []
  vi.stubGlobal('fetch', (url: string) => {
    fetched.push(url.slice(BASE.length))
    return Promise.resolve(new Response(`from the net: ${url}`, { status: url.endsWith('gone.js') ? 404 : 200 }))
  })
})

describe('a release of the application', () => {
  it('is fetched whole, and the next one fetches only what it does not share with it', async () => {
    await fillCache(storage, release('1', 'assets/a-1.js', 'assets/b-1.js'), BASE)
    expect(fetched).toEqual(['index.html', 'assets/a-1.js', 'assets/b-1.js'])
    fetched = []
    await fillCache(storage, release('2', 'assets/a-1.js', 'assets/b-2.js'), BASE)
    expect(fetched).toEqual(['index.html', 'assets/b-2.js'])
  })

  it('of which a file is missing is not installed', async () => {
    await expect(fillCache(storage, release('1', 'assets/gone.js'), BASE)).rejects.toThrow('404')
  })

  it('answers every page with its one page, and files with themselves', async () => {
    await fillCache(storage, release('1', 'assets/a-1.js'), BASE)
    const ask = async (url: string, mode: RequestMode) =>
      (await answerFrom(storage, release('1'), { url: BASE + url, mode }, BASE))?.text()
    expect(await ask('?url=x', 'navigate')).toBe(`from the net: ${BASE}index.html`)
    expect(await ask('assets/a-1.js', 'no-cors')).toBe(`from the net: ${BASE}assets/a-1.js`)
    expect(await ask('assets/other.js', 'no-cors')).toBeUndefined()
  })

  it('leaves the one before it for tabs that still run it, and none older', async () => {
    await (await storage.open('not-ours')).put('x', new Response())
    for (const version of ['1', '2', '3']) await fillCache(storage, release(version, `assets/a-${version}.js`), BASE)
    await dropOldCaches(storage, release('3'))
    expect(await storage.keys()).toEqual(['not-ours', 'holdfast-2', 'holdfast-3'])
    const old = { url: `${BASE}assets/a-2.js`, mode: 'no-cors' } as const
    expect(await answerFrom(storage, release('3'), old, BASE)).toBeDefined()
  })
})
