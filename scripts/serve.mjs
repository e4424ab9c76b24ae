import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { contentSecurityPolicy } from './content-security-policy.mjs'
import { giveUp } from './run.mjs'

const HOST = '127.0.0.1'
const FIRST_PORT = 4173
const LAST_PORT = 4272
const DIST = fileURLToPath(new URL('../dist', import.meta.url))

/** @type {Record<string, string>} */
const MIME_TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Everything else is compressed already, or too small to matter. */
const COMPRESSED = new Set(['.css', '.html', '.js', '.json', '.svg', '.wasm', '.webmanifest'])

const SECURITY_HEADERS = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * The file a request means, or null when it points outside of the folder or is no path at all.
 * @param {string} folder
 * @param {string} requestUrl
 */
function fileOf(folder, requestUrl) {
  try {
    const path = decodeURIComponent(new URL(requestUrl, 'http://any').pathname)
    const file = resolve(join(folder, path.endsWith('/') ? `${path}index.html` : path))
    return file.startsWith(folder + sep) && !file.includes('\0') ? file : null
  } catch {
    return null
  }
}

/**
 * @param {string} folder
 * @param {string} file
 * @param {import('node:fs').Stats} stats
 */
function headersOf(folder, file, stats) {
  const isHashed = file.startsWith(join(folder, 'assets') + sep)
  return {
    ...SECURITY_HEADERS,
    'Content-Type': MIME_TYPES[extname(file)] ?? 'application/octet-stream',
    'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: `"${stats.size.toString(36)}-${stats.mtimeMs.toString(36)}"`,
    Vary: 'Accept-Encoding',
  }
}

/**
 * A server of static files, for one folder and for this machine only.
 * @param {string} folder
 */
export function createStaticServer(folder) {
  const compress = createCompressor()
  return createServer((request, response) => void answer({ folder, compress }, request, response))
}

/** Remembers what it has compressed: the same few files are asked for again and again. */
function createCompressor() {
  /** @type {Map<string, Promise<Buffer>>} */
  const known = new Map()
  return (/** @type {string} */ file, /** @type {string} */ version) => {
    const key = `${file} ${version}`
    const body = known.get(key) ?? readFile(file).then(promisify(gzip))
    known.set(key, body)
    return body
  }
}

/**
 * @param {{ folder: string, compress: ReturnType<typeof createCompressor> }} site
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answer({ folder, compress }, request, response) {
  /** @param {number} status @param {string} text @param {Record<string, string>} [headers] */
  const refuse = (status, text, headers) =>
    response
      .writeHead(status, { ...SECURITY_HEADERS, 'Content-Type': 'text/plain; charset=utf-8', ...headers })
      .end(text)

  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuse(405, 'Only GET and HEAD are served here.', { Allow: 'GET, HEAD' })
  }
  const file = fileOf(folder, request.url ?? '/')
  const stats = file === null ? undefined : await stat(file).catch(() => undefined)
  if (file === null || !stats?.isFile()) return refuse(404, 'There is nothing here.')

  const headers = headersOf(folder, file, stats)
  if (request.headers['if-none-match'] === headers.ETag) return response.writeHead(304, headers).end()

  const isCompressed = COMPRESSED.has(extname(file)) && /\bgzip\b/.test(String(request.headers['accept-encoding']))
  if (isCompressed) {
    const body = await compress(file, headers.ETag)
    response.writeHead(200, { ...headers, 'Content-Encoding': 'gzip', 'Content-Length': body.length })
    return response.end(request.method === 'HEAD' ? undefined : body)
  }
  response.writeHead(200, { ...headers, 'Content-Length': stats.size })
  if (request.method === 'HEAD') return response.end()
  return createReadStream(file)
    .on('error', () => response.destroy())
    .pipe(response)
}

/**
 * Listens on the first free port from `port` on; 0 takes any free one.
 * @param {import('node:http').Server} server
 * @param {number} port
 * @returns {Promise<string>} the address of the page
 */
export function listen(server, port = FIRST_PORT) {
  return new Promise((resolve, reject) => {
    const onError = (/** @type {NodeJS.ErrnoException} */ error) => {
      const isTaken = error.code === 'EADDRINUSE' && port < LAST_PORT
      if (isTaken) server.listen((port += 1), HOST)
      else reject(error)
    }
    server.on('error', onError)
    server.once('listening', () => {
      server.off('error', onError)
      const address = /** @type {import('node:net').AddressInfo} */ (server.address())
      resolve(`http://${HOST}:${address.port}/`)
    })
    server.listen(port, HOST)
  })
}

/** Serves the built application until it is interrupted, and prints the address. */
export async function serveApp(port = FIRST_PORT) {
  const isBuilt = await stat(join(DIST, 'index.html')).catch(() => null)
  if (!isBuilt)
    giveUp('There is no built application in dist: run `npm run build` first, or `npm start` for everything.')
  const server = createStaticServer(DIST)
  const url = await listen(server, port).catch((/** @type {Error} */ error) =>
    giveUp(`No port could be opened on ${HOST} (${error.message}): set PORT to a free one and run the command again.`),
  )
  console.log(`\nHoldfast is served at ${url}\nPress Ctrl+C to stop.`)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serveApp(Number(process.env.PORT ?? FIRST_PORT))
