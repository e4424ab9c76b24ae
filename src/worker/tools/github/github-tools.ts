import * as v from 'valibot'
import type { Json, JsonObject } from '#engine/model/json.ts'
import type { ReconcileOutcome, ToolCall, ToolOutcome } from '#engine/ports/tools.ts'
import { defineMethod, oneObject, type DocumentedMethod } from '../define-method.ts'
import type { HttpDeps } from '../http/deps.ts'
import { refused, succeeded } from '../outcomes.ts'
import { commentAnswer, issueAnswer, notificationAnswer, releaseAnswer } from './github-answers.ts'
import { createGithubClient, type GithubAnswer, type GithubSettings } from './github-client.ts'

const PAGE = 100

const repo = v.pipe(v.string(), v.regex(/^[A-Za-z0-9-]{1,39}\/[\w.-]{1,100}$/, 'must be written as owner/name'))
const number = v.pipe(v.number(), v.integer(), v.minValue(1))
const limit = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 30)
const since = v.exactOptional(v.pipe(v.string(), v.isoTimestamp()))
const body = v.pipe(v.string(), v.minLength(1), v.maxLength(60_000))

export function createGithubTools(deps: HttpDeps & { github: () => Promise<GithubSettings> }): DocumentedMethod[] {
  const client = createGithubClient(deps)
  const ofRepo = (input: { repo: string }) => [`github:${input.repo}`]

  /** A service that knows no idempotency keys: the key is hidden in the text, where it can be found again. */
  async function findMarked(path: string, params: Record<string, string | number>, call: ToolCall): Promise<Found> {
    if (call.idempotencyKey === null) return { kind: 'absent' }
    const answer = await client.get(path, { ...params, per_page: PAGE }, call)
    if (!answer.ok) return { kind: 'unknown', outcome: answer.outcome }
    const marker = markerOf(call.idempotencyKey)
    const entries = Array.isArray(answer.body) ? answer.body : []
    const entry = entries.find((candidate) => bodyOf(candidate).includes(marker))
    return entry === undefined ? { kind: 'absent' } : { kind: 'present', entry }
  }
  /** Among the newest hundred: nobody asks about an issue after a hundred others. */
  const findIssue = ({ repo }: { repo: string }, call: ToolCall) =>
    findMarked(`/repos/${repo}/issues`, { state: 'all', sort: 'created', direction: 'desc' }, call)
  const issuePath = (input: { repo: string; number: number }) => `/repos/${input.repo}/issues/${input.number}`

  /** Comments come oldest first only, so the newest hundred and more are on the last two pages. */
  async function findComment(input: { repo: string; number: number }, call: ToolCall): Promise<Found> {
    if (call.idempotencyKey === null) return { kind: 'absent' }
    const issue = await client.get(issuePath(input), {}, call)
    if (!issue.ok) return { kind: 'unknown', outcome: issue.outcome }
    const parsed = v.safeParse(issueAnswer, issue.body)
    const last = Math.max(1, Math.ceil((parsed.success ? parsed.output.comments : 0) / PAGE))
    for (const page of last > 1 ? [last, last - 1] : [last]) {
      const found = await findMarked(`${issuePath(input)}/comments`, { page }, call)
      if (found.kind !== 'absent') return found
    }
    return { kind: 'absent' }
  }

  return [
    defineMethod({
      name: 'github.issues.list',
      kind: 'read',
      title: 'List GitHub issues',
      doc: {
        signature:
          "(options: { repo: string; state?: 'open' | 'closed' | 'all'; labels?: string[]; since?: string; limit?: number }) => Promise<GithubIssue[]>",
        text: 'Issues and pull requests of a repository, the ones updated last first.',
        example:
          "const issues = await ctx.github.issues.list({ repo: 'octo/hello', labels: ['bug'] })\nreturn issues.map((issue) => issue.title)",
      },
      arguments: oneObject,
      input: v.strictObject({
        repo,
        state: v.optional(v.picklist(['open', 'closed', 'all']), 'open'),
        labels: v.optional(v.array(v.string()), []),
        since,
        limit,
      }),
      permissions: ofRepo,
      call: async ({ repo, state, labels, since, limit }, call) => {
        const params = {
          state,
          sort: 'updated',
          direction: 'desc',
          per_page: limit,
          ...(labels.length > 0 && { labels: labels.join(',') }),
          ...(since !== undefined && { since }),
        }
        return shape(v.array(issueAnswer), await client.get(`/repos/${repo}/issues`, params, call))
      },
    }),
    defineMethod({
      name: 'github.issues.get',
      kind: 'read',
      title: 'Read a GitHub issue',
      doc: {
        signature: '(issue: { repo: string; number: number }) => Promise<GithubIssue>',
        text: 'One issue or pull request.',
        example: "const issue = await ctx.github.issues.get({ repo: 'octo/hello', number: 1 })\nreturn issue.state",
      },
      arguments: oneObject,
      input: v.strictObject({ repo, number }),
      permissions: ofRepo,
      call: async ({ repo, number }, call) =>
        shape(issueAnswer, await client.get(`/repos/${repo}/issues/${number}`, {}, call)),
    }),
    defineMethod({
      name: 'github.releases.list',
      kind: 'read',
      title: 'List GitHub releases',
      doc: {
        signature: '(options: { repo: string; limit?: number }) => Promise<GithubRelease[]>',
        text: 'Releases of a repository, newest first.',
        example:
          "const [latest] = await ctx.github.releases.list({ repo: 'octo/hello', limit: 1 })\nreturn latest?.tag",
      },
      arguments: oneObject,
      input: v.strictObject({ repo, limit }),
      permissions: ofRepo,
      call: async ({ repo, limit }, call) =>
        shape(v.array(releaseAnswer), await client.get(`/repos/${repo}/releases`, { per_page: limit }, call)),
    }),
    defineMethod({
      name: 'github.notifications.list',
      kind: 'read',
      title: 'List your GitHub notifications',
      doc: {
        signature: '(options?: { all?: boolean; since?: string; limit?: number }) => Promise<GithubNotification[]>',
        text: 'Your notifications, newest first; only unread ones unless `all` is set. Needs the permission `github` or `github:notifications`.',
        example:
          'const notifications = await ctx.github.notifications.list()\nreturn notifications.map((one) => one.title)',
      },
      arguments: oneObject,
      input: v.strictObject({ all: v.optional(v.boolean(), false), since, limit }),
      permissions: () => ['github:notifications'],
      call: async ({ all, since, limit }, call) => {
        const params = { all, per_page: limit, ...(since !== undefined && { since }) }
        return shape(v.array(notificationAnswer), await client.get('/notifications', params, call))
      },
    }),
    defineMethod({
      name: 'github.issues.comment',
      kind: 'mutation',
      title: 'Comment on a GitHub issue',
      doc: {
        signature: '(comment: { repo: string; number: number; body: string }) => Promise<{ id: number; url: string }>',
        text: 'Comments on an issue or pull request. An invisible mark in the text lets a doubtful outcome be checked.',
        example:
          "await ctx.github.issues.comment({ repo: 'octo/hello', number: 1, body: 'Thank you, we are looking into it.' })",
      },
      arguments: oneObject,
      input: v.strictObject({ repo, number, body }),
      permissions: ofRepo,
      call: (input, call) =>
        createOnce(
          () => findComment(input, call),
          () => client.post(`${issuePath(input)}/comments`, { body: marked(input.body, call) }, call),
          commentAnswer,
        ),
      reconcile: async (input, call) => toReconciliation(await findComment(input, call), commentAnswer),
      whereToCheck: ({ repo, number }) => `Look at the last comments of issue ${number} of ${repo} on GitHub.`,
    }),
    defineMethod({
      name: 'github.issues.create',
      kind: 'mutation',
      title: 'Create a GitHub issue',
      doc: {
        signature: '(issue: { repo: string; title: string; body?: string; labels?: string[] }) => Promise<GithubIssue>',
        text: 'Opens an issue. An invisible mark in the text lets a doubtful outcome be checked.',
        example:
          "await ctx.github.issues.create({ repo: 'octo/hello', title: 'The export stops half way', labels: ['bug'] })",
      },
      arguments: oneObject,
      input: v.strictObject({
        repo,
        title: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
        body: v.optional(v.pipe(v.string(), v.maxLength(60_000)), ''),
        labels: v.optional(v.array(v.string()), []),
      }),
      permissions: ofRepo,
      call: ({ repo, title, body, labels }, call) =>
        createOnce(
          () => findIssue({ repo }, call),
          () => client.post(`/repos/${repo}/issues`, { title, body: marked(body, call), labels }, call),
          issueAnswer,
        ),
      reconcile: async (input, call) => toReconciliation(await findIssue(input, call), issueAnswer),
      whereToCheck: ({ repo, title }) => `Look for "${title}" among the newest issues of ${repo} on GitHub.`,
    }),
  ]
}

type Found = { kind: 'present'; entry: Json } | { kind: 'absent' } | { kind: 'unknown'; outcome: ToolOutcome }
type Shape = v.GenericSchema<unknown, Json>

/** Looks first: an attempt before this one may have got further than anybody knows. */
async function createOnce(
  look: () => Promise<Found>,
  create: () => Promise<GithubAnswer>,
  form: Shape,
): Promise<ToolOutcome> {
  const found = await look()
  // Nothing was sent that could have changed anything.
  if (found.kind === 'unknown')
    return { ...found.outcome, ...(found.outcome.kind === 'failed' && { certainty: 'definite' }) }
  return shape(form, found.kind === 'present' ? { ok: true, body: found.entry } : await create(), 'mutation')
}

function shape(form: Shape, answer: GithubAnswer, kind: 'read' | 'mutation' = 'read'): ToolOutcome {
  if (!answer.ok) return answer.outcome
  const parsed = v.safeParse(form, answer.body)
  if (parsed.success) return succeeded(parsed.output)
  // It was done; that its description is not understood cannot undo it.
  if (kind === 'mutation') return succeeded(answer.body)
  return refused('logic', 'GitHub answered in a form that is not known')
}

function toReconciliation(found: Found, form: Shape): ReconcileOutcome {
  if (found.kind === 'absent') return { kind: 'not_applied' }
  if (found.kind === 'present') {
    const parsed = v.safeParse(form, found.entry)
    return { kind: 'applied', value: parsed.success ? parsed.output : found.entry }
  }
  const message = found.outcome.kind === 'failed' ? found.outcome.failure.message : 'GitHub could not be asked'
  return { kind: 'unknown', message }
}

const markerOf = (key: string): string => `<!-- holdfast:${key.replaceAll('--', '-')} -->`
const marked = (body: string, { idempotencyKey }: ToolCall): string =>
  idempotencyKey === null ? body : `${body}\n\n${markerOf(idempotencyKey)}`.trimStart()

const bodyOf = (entry: Json): string => {
  const body = (entry as JsonObject | null)?.['body']
  return typeof body === 'string' ? body : ''
}
