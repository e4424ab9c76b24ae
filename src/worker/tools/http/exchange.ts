import type { FailureType } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import type { Clock } from '#engine/ports/clock.ts'
import type { AbortSignalLike } from '#engine/ports/sandbox.ts'
import { fillIn, hasPlaceholder } from '../../secrets/placeholders.ts'
import type { HttpDeps } from './deps.ts'
import { readRetryAfter } from './headers.ts'
import { readBody, type BodyProblem, type ResponseType } from './read-body.ts'
import { explainSilence, wasNeverSent } from './silence.ts'

export interface HttpRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: URL
  /** May hold `secret:NAME`. */
  headers: Readonly<Record<string, string>>
  body?: string
  timeoutMs: number
  maxBytes: number
  responseType: ResponseType
  followRedirects: boolean
}

/** What a script gets: plain JSON. */
export interface HttpAnswer {
  status: number
  headers: Record<string, string>
  url: string
  body: Json
}

/** What is known about one request after it is over, before anybody judges it. */
export type Exchange =
  | { kind: 'unsent'; type: FailureType; message: string }
  | { kind: 'silent'; message: string }
  /** A browser does not tell the status of a redirect, nor where it leads. */
  | { kind: 'redirected'; status: number | undefined; location: string | undefined }
  | { kind: 'answered'; answer: HttpAnswer; problem: BodyProblem | undefined; retryAfterMs: number | undefined }

export async function exchange(deps: HttpDeps, request: HttpRequest, signal: AbortSignalLike): Promise<Exchange> {
  if (signal.aborted) return { kind: 'unsent', type: 'network', message: 'The call was cancelled before it was sent' }
  if (!deps.isOnline()) return { kind: 'unsent', type: 'network', message: 'This device is offline' }
  const prepared = await prepare(deps, request)
  if (!(prepared instanceof Request)) return prepared

  const limit = createLimit(deps.clock, request, signal)
  // Taken out first: a browser's fetch refuses to be called as a method of anything.
  const { fetch } = deps
  try {
    const response = await fetch(prepared, { signal: limit.signal })
    const read = await readAnswer(deps, request, response)
    return limit.signal.aborted ? cutShort(read, limit.reason()) : read
  } catch (error) {
    if (limit.signal.aborted) return { kind: 'silent', message: limit.reason() }
    const message = explainSilence(request.url, error, deps.isOnline())
    return wasNeverSent(error) ? { kind: 'unsent', type: 'network', message } : { kind: 'silent', message }
  } finally {
    limit.end()
  }
}

async function prepare(deps: HttpDeps, request: HttpRequest): Promise<Request | Exchange> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (request.followRedirects && hasPlaceholder(value)) {
      const message = 'A secret cannot be sent with followRedirects: nobody knows where it would end up'
      return { kind: 'unsent', type: 'logic', message }
    }
    const filled = await fillIn(value, request.url, deps.vault)
    if (!filled.ok) return { kind: 'unsent', ...filled.error }
    headers[name] = filled.value
  }
  try {
    return new Request(request.url, {
      method: request.method,
      headers,
      ...(request.body !== undefined && { body: request.body }),
      // Never the user's cookies, never the address of this page, never an answer from a cache.
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      // A redirect could lead to a host that was not granted: see ADR 0051.
      redirect: request.followRedirects ? 'follow' : 'manual',
    })
  } catch (error) {
    return { kind: 'unsent', type: 'logic', message: `The request is not possible: ${String(error)}` }
  }
}

async function readAnswer(deps: HttpDeps, request: HttpRequest, response: Response): Promise<Exchange> {
  const isRedirect = [301, 302, 303, 307, 308].includes(response.status)
  if (response.type === 'opaqueredirect' || isRedirect) {
    await response.body?.cancel().catch(() => undefined)
    const status = response.status === 0 ? undefined : response.status
    return { kind: 'redirected', status, location: response.headers.get('location') ?? undefined }
  }
  const { body, ...read } = await readBody(response, request.responseType, request.maxBytes)
  return {
    kind: 'answered',
    answer: {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      url: response.url === '' ? request.url.href : response.url,
      body,
    },
    problem: read.ok ? undefined : read.problem,
    retryAfterMs: readRetryAfter(response.headers.get('retry-after'), deps.clock.now()),
  }
}

/** The status had come; only the rest of the body did not make it in time. */
function cutShort(read: Exchange, message: string): Exchange {
  if (read.kind !== 'answered' || read.problem?.reason !== 'cut_off') return read
  return { ...read, problem: { reason: 'cut_off', message } }
}

/** Ends the request when its time is over or when the engine gives it up. */
function createLimit(clock: Clock, request: HttpRequest, signal: AbortSignalLike) {
  const controller = new AbortController()
  let reason = ''
  const abort = (why: string) => {
    reason = why
    controller.abort()
  }
  const onAbort = () => abort('The call was given up before the answer was complete')
  const takeBack = clock.wakeAt(clock.now() + request.timeoutMs, () =>
    abort(`${request.url.host} did not answer within ${request.timeoutMs / 1_000} seconds`),
  )
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    reason: () => reason,
    end() {
      takeBack()
      signal.removeEventListener('abort', onAbort)
    },
  }
}
