import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  body: string
}

export interface MisbehavingServer {
  url: string
  host: string
  /** What has been read completely, in the order of its arrival: what a real service would have acted upon. */
  received: ReceivedRequest[]
  /** Resolves with the next request that arrives, before it is answered. */
  nextArrival(): Promise<string>
  /** Answers this path in its own way; the path is compared without its query. */
  on(path: string, answer: Answer): void
  close(): Promise<void>
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** A real HTTP server on this machine that does everything wrong that a server can do wrong, each under its own path. */
export async function startMisbehavingServer({ allowsPages = false } = {}): Promise<MisbehavingServer> {
  const received: ReceivedRequest[] = []
  let arrivals: ((path: string) => void)[] = []
  const own = new Map<string, Answer>()

  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    if (allowsPages && allowPage(request, response)) return
    const arrived = arrivals
    arrivals = []
    for (const resolve of arrived) resolve(path)
    if (path.startsWith('/drop-before-reading')) {
      request.socket.destroy()
      return
    }
    void readWhole(request).then((body) => {
      const method = request.method ?? ''
      const entry = { method, path, headers: request.headers as Record<string, string>, body }
      received.push(entry)
      const url = new URL(path, 'http://server')
      const answer = own.get(url.pathname) ?? answers[url.pathname.split('/')[1] ?? '']
      if (answer) answer(response, entry)
      else response.writeHead(404).end('nothing here')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    received,
    nextArrival: () => new Promise((resolve) => arrivals.push(resolve)),
    on: (path, answer) => own.set(path, answer),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** CORS, as a service does it that wants to be used by pages of others. True when that was all that was asked. */
function allowPage(request: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-expose-headers', '*')
  if (request.method !== 'OPTIONS') return false
  response.setHeader('access-control-allow-methods', '*')
  response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '*')
  response.writeHead(204).end()
  return true
}

async function readWhole(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** What it does under each path, for a server that misbehaves only at times. */
export const misbehaviourOf = (path: string): Answer | undefined => answers[path.split(/[/?]/)[0] ?? '']

const answers: Record<string, Answer | undefined> = {
  json: (response) => json(response, { hello: 'world' }),
  text: (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('plain text'),
  empty: (response) => response.writeHead(204).end(),
  latin1: (response) =>
    response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from([0x66, 0xfc, 0x72])),
  bytes: (response) => response.writeHead(200).end(Buffer.from([0, 255, 128])),
  /** Gives back everything it was sent, as some debugging services do. */
  echo: (response, request) => json(response, request),
  /** /status/429?retry-after=7 */
  status: (response, { path }) => {
    const url = new URL(path, 'http://server')
    const status = Number(url.pathname.split('/')[2])
    const retryAfter = url.searchParams.get('retry-after')
    if (retryAfter !== null) response.setHeader('retry-after', retryAfter)
    response.writeHead(status, { 'content-type': 'text/plain' }).end(`this is ${status}`)
  },
  /** The same without a query. */
  busy: (response) => response.writeHead(429, { 'content-type': 'text/plain', 'retry-after': '7' }).end('later'),
  /** Takes the request and says nothing. */
  silent: () => undefined,
  /** Says that all is well, and then nothing more. */
  stalls: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"hello":')
  },
  'drop-after-reading': (response) => response.socket?.destroy(),
  /** Promises more than it sends. */
  truncated: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"hello":')
    setImmediate(() => response.socket?.destroy())
  },
  'truncated-chunks': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"hello":')
    setImmediate(() => response.socket?.destroy())
  },
  'truncated-error': (response) => {
    response.writeHead(422, { 'content-length': '1000' }).write('not')
    setImmediate(() => response.socket?.destroy())
  },
  'not-json': (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('<html>Sign in to the Wi-Fi</html>'),
  garbage: (response) => response.socket?.end('this is not HTTP\r\n\r\n'),
  huge: (response) => response.writeHead(200, { 'content-length': '10000000000' }).write('x'),
  /** Never says how much, and never ends. */
  'huge-stream': (response) => {
    const chunk = 'x'.repeat(65_536)
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', pour)
    }
    response.writeHead(200)
    pour()
  },
  /** /redirect?to=…&status=307 */
  redirect: (response, { path }) => {
    const { searchParams } = new URL(path, 'http://server')
    response.writeHead(Number(searchParams.get('status') ?? 302), { location: searchParams.get('to') ?? '/' }).end()
  },
  loop: (response) => response.writeHead(302, { location: '/loop' }).end(),
}
