import type { Json } from '#engine/model/json.ts'
import type { ToolCall, ToolOutcome } from '#engine/ports/tools.ts'
import type { HttpDeps } from '../http/deps.ts'
import { exchange, type Exchange, type HttpRequest } from '../http/exchange.ts'
import { judge, statusMessage } from '../http/judge.ts'
import { refused } from '../outcomes.ts'

export interface GithubSettings {
  /** `https://api.github.com`, or that of a company's own server. */
  baseUrl: string
  /** `secret:NAME`; without one only public things can be read. */
  token?: string
}

export type GithubAnswer = { ok: true; body: Json } | { ok: false; outcome: ToolOutcome }

export interface GithubClient {
  get(path: string, params: Readonly<Record<string, string | number | boolean>>, call: ToolCall): Promise<GithubAnswer>
  post(path: string, body: Json, call: ToolCall): Promise<GithubAnswer>
}

export function createGithubClient(deps: HttpDeps & { github: () => Promise<GithubSettings> }): GithubClient {
  async function send(
    kind: 'read' | 'mutation',
    path: string,
    over: Pick<HttpRequest, 'method'> & { body?: string; params?: Readonly<Record<string, string | number | boolean>> },
    call: ToolCall,
  ): Promise<GithubAnswer> {
    const { baseUrl, token } = await deps.github()
    if (kind === 'mutation' && token === undefined) return { ok: false, outcome: refused('auth', NO_TOKEN) }
    const { params = {}, ...rest } = over
    const url = new URL(baseUrl.replace(/\/$/, '') + path)
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, String(value))
    const request: HttpRequest = {
      ...rest,
      url,
      headers: {
        Accept: 'application/vnd.github+json',
        'X-GitHub-Api-Version': '2022-11-28',
        ...(rest.body !== undefined && { 'Content-Type': 'application/json' }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      timeoutMs: 30_000,
      maxBytes: 6_000_000,
      responseType: 'auto',
      followRedirects: false,
    }
    const result = await exchange(deps, request, call.signal)
    const limited = rateLimit(request, result, deps.clock.now())
    if (limited) return { ok: false, outcome: limited }
    const outcome = judge(request, result, { kind, throwHttpErrors: true })
    if (outcome.kind === 'failed' || result.kind !== 'answered') return { ok: false, outcome }
    return { ok: true, body: result.answer.body }
  }

  return {
    get: (path, params, call) => send('read', path, { method: 'GET', params }, call),
    post: (path, body, call) => send('mutation', path, { method: 'POST', body: JSON.stringify(body) }, call),
  }
}

const NO_TOKEN = 'Writing on GitHub needs a token. Set it under Settings, Connections and secrets, then retry.'

/** GitHub says 403 where others say 429, and tells in a header of its own when to come back. */
function rateLimit(request: HttpRequest, result: Exchange, now: number): ToolOutcome | undefined {
  if (result.kind !== 'answered' || ![403, 429].includes(result.answer.status)) return undefined
  const { headers } = result.answer
  const isUsedUp = headers['x-ratelimit-remaining'] === '0'
  if (!isUsedUp && result.retryAfterMs === undefined) return undefined
  const reset = Number(headers['x-ratelimit-reset']) * 1_000 - now
  const retryAfterMs = result.retryAfterMs ?? (Number.isFinite(reset) ? Math.max(0, reset) : undefined)
  const message = `The rate limit of GitHub is used up. ${statusMessage(request, result.answer)}`
  return refused('network', message, retryAfterMs === undefined ? {} : { retryAfterMs })
}
