import type { Failure, FailureType } from '#engine/model/errors.ts'
import type { ToolMethod, ToolOutcome } from '#engine/ports/tools.ts'
import { refused, succeeded, uncertain } from '../outcomes.ts'
import type { Exchange, HttpAnswer, HttpRequest } from './exchange.ts'

interface Manners {
  kind: ToolMethod['kind']
  /** Whether an answer that is not 2xx is an error. */
  throwHttpErrors: boolean
}

/** The one place where an exchange becomes an outcome (1.5, 1.6). A read that failed has certainly changed nothing. */
export function judge(request: Pick<HttpRequest, 'method' | 'url'>, exchange: Exchange, manners: Manners): ToolOutcome {
  const maybe = manners.kind === 'mutation' ? uncertain : refused
  switch (exchange.kind) {
    case 'unsent':
      return refused(exchange.type, exchange.message)
    case 'silent':
      return maybe('network', exchange.message)
    case 'redirected': {
      const message = redirectMessage(request, exchange)
      // 307 and 308 ask to send the same again elsewhere; the others are often the thanks for something done.
      const isUndone = exchange.status === 307 || exchange.status === 308
      return isUndone ? refused('logic', message) : maybe('logic', message)
    }
    case 'answered':
      return judgeAnswer(request, exchange, manners)
  }
}

function judgeAnswer(
  request: Pick<HttpRequest, 'method' | 'url'>,
  { answer, problem, retryAfterMs }: Exclude<Exchange, { kind: Exclude<Exchange['kind'], 'answered'> }>,
  { kind, throwHttpErrors }: Manners,
): ToolOutcome {
  const { status } = answer
  const isFine = status >= 200 && status < 300
  if (kind === 'mutation' && status >= 500)
    return uncertain('network', statusMessage(request, answer), retryIn(retryAfterMs))
  if (!isFine && throwHttpErrors) {
    return refused(typeOfStatus(status), statusMessage(request, answer), retryIn(retryAfterMs))
  }
  if (!problem) return succeeded({ ...answer })
  // The other side has said that it did it: a broken body cannot take that back.
  if (kind === 'mutation') return succeeded({ ...answer, bodyError: problem.message })
  const message = `${request.method} ${addressOf(request.url)}: ${problem.message}`
  return refused(problem.reason === 'too_large' ? 'logic' : 'network', message)
}

function typeOfStatus(status: number): FailureType {
  if (status === 401) return 'auth'
  if (status === 403) return 'permission'
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'network'
  return 'logic'
}

export function statusMessage(
  { method, url }: Pick<HttpRequest, 'method' | 'url'>,
  { status, body }: HttpAnswer,
): string {
  const words = typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body)
  const excerpt = words.replace(/\s+/g, ' ').trim().slice(0, 300)
  return `${url.host} answered ${status} to ${method} ${url.pathname}${excerpt === '' ? '' : `: ${excerpt}`}`
}

function redirectMessage(
  request: Pick<HttpRequest, 'method' | 'url'>,
  { location }: { location: string | undefined },
): string {
  const where = location === undefined ? '' : ` to ${location.slice(0, 300)}`
  return (
    `${request.url.host} answered ${request.method} ${request.url.pathname} with a redirect${where}. Redirects are not followed, ` +
    'because they could lead to a host that was not granted. Use the final address' +
    (request.method === 'GET' || request.method === 'HEAD' ? ', or followRedirects with the permission http:*' : '')
  )
}

const retryIn = (retryAfterMs: number | undefined): Pick<Failure, 'retryAfterMs'> =>
  retryAfterMs === undefined ? {} : { retryAfterMs }

/** Without the query, which may hold anything. */
const addressOf = (url: URL): string => `${url.origin}${url.pathname}`
