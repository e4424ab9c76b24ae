import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contentSecurityPolicy } from '../../scripts/content-security-policy.mjs'
import { createStaticServer, listen } from '../../scripts/serve.mjs'

let root: string
let server: Server
let url: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-serve-'))
  const dist = join(root, 'dist')
  await mkdir(join(dist, 'assets'), { recursive: true })
  await writeFile(join(root, 'secret.txt'), 'not for you')
  await writeFile(join(dist, 'index.html'), '<!doctype html>')
  await writeFile(join(dist, 'manifest.webmanifest'), '{}')
  await writeFile(join(dist, 'assets', 'sqlite-1a2b3c.wasm'), 'wasm')
  server = createStaticServer(dist)
  url = await listen(server, 0)
})

afterAll(async () => {
  server.close()
  await rm(root, { recursive: true })
})

/** fetch() tidies a path before it sends it; a rude client does not. */
const statusOfRawPath = (path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(url, { path }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })

describe('the own static server', () => {
  test.each([
    ['', 'text/html; charset=utf-8', 'no-cache'],
    ['manifest.webmanifest', 'application/manifest+json; charset=utf-8', 'no-cache'],
    ['assets/sqlite-1a2b3c.wasm', 'application/wasm', 'public, max-age=31536000, immutable'],
  ])('sends /%s with its type and how long it keeps', async (path, type, caching) => {
    const { status, headers } = await fetch(url + path)

    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe(type)
    expect(headers.get('Cache-Control')).toBe(caching)
  })

  test.each(['', 'nothing-here'])('sends the security headers with /%s', async (path) => {
    const { headers } = await fetch(url + path)

    expect(headers.get('Content-Security-Policy')).toBe(contentSecurityPolicy)
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
  })

  test('compresses for whom it helps, and sends the same', async () => {
    const compressed = await fetch(url, { headers: { 'Accept-Encoding': 'gzip' } })
    const plain = await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })

    expect(compressed.headers.get('Content-Encoding')).toBe('gzip')
    expect(plain.headers.get('Content-Encoding')).toBeNull()
    expect(await compressed.text()).toBe(await plain.text())
  })

  test('answers 304 to a browser that has the page already', async () => {
    const first = await fetch(url)
    const again = await fetch(url, { headers: { 'If-None-Match': first.headers.get('ETag') ?? '' } })

    expect(again.status).toBe(304)
  })

  test.each(['/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '/%00', '/%', '/assets'])(
    'gives nothing away for %s',
    async (path) => {
      expect(await statusOfRawPath(path)).toBe(404)
    },
  )

  test('refuses everything but GET and HEAD', async () => {
    expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(405)
    expect(await (await fetch(url, { method: 'HEAD' })).text()).toBe('')
  })

  test('moves on to the next port when one is taken', async () => {
    const first = createStaticServer(root)
    const second = createStaticServer(root)
    try {
      const taken = Number(new URL(await listen(first)).port)
      const next = Number(new URL(await listen(second)).port)
      expect(next).toBeGreaterThan(taken)
    } finally {
      first.close()
      second.close()
    }
  })
})
