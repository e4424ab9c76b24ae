// durably in Chromium, as its documentation recommends for the browser: SQLocal on OPFS, in a cross-origin isolated page.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { chromium as playwright } from '@playwright/test'
import { build } from 'vite'
import { leaveTrace, servePeer } from './serve-peer.mjs'

const data = process.env.PEER_DATA ?? ''
const site = join(data, 'site')
const MIME_TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }

await build({
  root: 'durably-site',
  base: './',
  configFile: false,
  logLevel: 'error',
  worker: { format: 'es' },
  build: { outDir: site, emptyOutDir: true, target: 'es2023' },
})

/** @param {URL} url */
const answerTo = async ({ pathname, searchParams }) => {
  if (pathname === '/trace') return String(leaveTrace(String(searchParams.get('step')), Number(searchParams.get('n'))))
  return readFile(join(site, pathname === '/' ? 'index.html' : pathname))
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://any')
  const headers = {
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-opener-policy': 'same-origin',
    'content-type': MIME_TYPES[extname(url.pathname)] ?? 'text/html',
  }
  answerTo(url).then(
    (body) => response.writeHead(200, headers).end(body),
    () => response.writeHead(404).end(),
  )
})
// The same port before and after a kill: storage belongs to the address.
server.listen(19081, '127.0.0.1')
await once(server, 'listening')

// In our own process group: whoever kills it kills the browser.
const browser = spawn(process.env.PEER_CHROMIUM ?? 'chromium', [
  ...JSON.parse(process.env.PEER_CHROMIUM_ARGUMENTS ?? '[]'),
  '--remote-debugging-port=0',
  `--user-data-dir=${join(data, 'profile')}`,
  'about:blank',
])
process.on('exit', () => browser.kill('SIGKILL'))
const endpoint = await new Promise((resolve) => {
  let said = ''
  browser.stderr.on('data', (chunk) => {
    said += chunk
    const found = /DevTools listening on (ws:\/\/\S+)/.exec(said)?.[1]
    if (found) resolve(found)
  })
})
const [context] = (await playwright.connectOverCDP(endpoint)).contexts()
const page = await context.newPage()
page.on('pageerror', (error) => console.error(`durably in Chromium: ${error.message}`))
await page.goto(`http://127.0.0.1:19081/${process.env.PEER_TRACES === undefined ? '' : '?traced'}`)
await page.waitForFunction(() => globalThis.peer !== undefined)

/** @param {'alone' | 'together'} which @param {'start' | 'stop' | 'runAll' | 'accept'} method @param {number[]} [ns] */
const call = (which, method, ns) =>
  page.evaluate(async ([each, name, numbers]) => {
    await globalThis.peer[each][name](numbers)
  }, /** @type {const} */ ([which, method, ns]))

servePeer({
  rouse: (order) => call(order === 'many' || order === 'accept' ? 'together' : 'alone', 'start'),
  rest: async () => {
    await call('alone', 'stop')
    await call('together', 'stop')
  },
  runOne: (n) => call('alone', 'runAll', [n]),
  runAllOneByOne: (ns) => call('alone', 'runAll', ns),
  runMany: (ns) => call('together', 'runAll', ns),
  accept: async (ns, onAccepted) => {
    await call('together', 'accept', ns)
    for (const n of ns) onAccepted(n)
  },
})
