import type { ServerResponse } from 'node:http'
import { startMisbehavingServer, type ReceivedRequest } from './misbehaving-server.ts'

export interface FakeGithub {
  url: string
  host: string
  received: ReceivedRequest[]
  issues: { number: number; title: string; body: string }[]
  comments: { id: number; body: string }[]
  reset(): void
  refuseNext(status: number, headers: Record<string, string>): void
  /** The next POST takes effect, and nobody hears of it. */
  loseNextPost(): void
  fillComments(count: number): void
  close(): Promise<void>
}

/** The few addresses of GitHub that the connector uses, for one repository. */
export async function startFakeGithub(): Promise<FakeGithub> {
  const server = await startMisbehavingServer()
  const repo = '/repos/octo/hello'
  const issues: FakeGithub['issues'] = []
  const comments: FakeGithub['comments'] = []
  let refusal: { status: number; headers: Record<string, string> } | undefined
  let isPostLost = false

  const issueJson = ({ number, title, body }: FakeGithub['issues'][number]) => ({
    number,
    title,
    body: body === '' ? null : body,
    state: 'open',
    html_url: `https://github.com/octo/hello/issues/${number}`,
    user: null,
    labels: [{ name: 'bug' }],
    comments: number === 1 ? comments.length : 0,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  })
  const commentJson = ({ id, body }: FakeGithub['comments'][number]) => ({
    id,
    body,
    html_url: `https://github.com/c/${id}`,
  })

  const on = (path: string, answer: (request: ReceivedRequest, params: URLSearchParams) => unknown) =>
    server.on(path, (response, request) => {
      if (refusal) {
        const { status, headers } = refusal
        refusal = undefined
        response.writeHead(status, headers).end('no')
        return
      }
      const body = answer(request, new URL(request.path, server.url).searchParams)
      send(response, request, body)
    })
  const send = (response: ServerResponse, request: ReceivedRequest, body: unknown) => {
    if (request.method === 'POST' && isPostLost) {
      isPostLost = false
      response.socket?.destroy()
      return
    }
    const status = request.method === 'POST' ? 201 : 200
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
  }

  on(`${repo}/issues`, ({ method, body }) => {
    if (method !== 'POST') return issues.toReversed().slice(0, 100).map(issueJson)
    const { title, body: text } = JSON.parse(body) as { title: string; body: string }
    const issue = { number: issues.length + 1, title, body: text }
    issues.push(issue)
    return issueJson(issue)
  })
  on(`${repo}/issues/1`, () => issues.slice(0, 1).map(issueJson)[0])
  on(`${repo}/issues/1/comments`, ({ method, body }, params) => {
    const page = Number(params.get('page') ?? 1)
    if (method !== 'POST') return comments.slice((page - 1) * 100, page * 100).map(commentJson)
    const comment = { id: comments.length + 1, body: (JSON.parse(body) as { body: string }).body }
    comments.push(comment)
    return commentJson(comment)
  })
  on(`${repo}/releases`, () => [
    {
      id: 1,
      tag_name: 'v1',
      name: 'One',
      body: null,
      html_url: 'https://github.com/r/1',
      author: { login: 'octo' },
      draft: false,
      prerelease: false,
      published_at: null,
    },
  ])
  on('/notifications', () => [
    {
      id: '7',
      reason: 'mention',
      unread: true,
      updated_at: '2026-01-01T00:00:00Z',
      subject: { title: 'It breaks', type: 'Issue' },
      repository: { full_name: 'octo/hello' },
    },
  ])

  const reset = () => {
    issues.splice(0, Infinity, { number: 1, title: 'It breaks', body: '' })
    comments.length = 0
    refusal = undefined
    isPostLost = false
  }
  reset()
  return {
    url: server.url,
    host: server.host,
    received: server.received,
    issues,
    comments,
    reset,
    refuseNext: (status, headers) => (refusal = { status, headers }),
    loseNextPost: () => (isPostLost = true),
    fillComments: (count) => {
      for (let n = 0; n < count; n++) comments.push({ id: comments.length + 1, body: `remark ${n}` })
    },
    close: () => server.close(),
  }
}
