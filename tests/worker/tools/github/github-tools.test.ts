import { afterAll, beforeEach, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '#engine/model/json.ts'
import { createGithubTools } from '#worker/tools/github/github-tools.ts'
import { callTool, methodOf, paramsOf, toolCall, valueOf } from '../../../support/call-tool.ts'
import { startFakeGithub, type FakeGithub } from '../../../support/fake-github.ts'
import { createHttpKit, finderOf } from '../../../support/tool-kit.ts'

let github: FakeGithub
beforeAll(async () => {
  github = await startFakeGithub()
})
beforeEach(() => github.reset())
afterAll(() => github.close())

async function setUp(withToken = true) {
  const kit = createHttpKit()
  await kit.vault.put({ name: 'GITHUB_TOKEN', value: 'ghp_aVerySecretToken', hosts: [github.host] })
  const settings = { baseUrl: github.url, ...(withToken && { token: 'secret:GITHUB_TOKEN' }) }
  return { ...kit, tools: finderOf(createGithubTools({ ...kit, github: () => Promise.resolve(settings) })) }
}

const REPO = 'octo/hello'
const mutations: [string, Json, () => number][] = [
  ['github.issues.comment', { repo: REPO, number: 1, body: 'Thanks' }, () => github.comments.length],
  [
    'github.issues.create',
    { repo: REPO, title: 'New', body: 'Please', labels: ['bug'] },
    () => github.issues.length - 1,
  ],
]

describe('reading', () => {
  it('gives issues, releases and notifications in a small and stable form', async () => {
    const { tools } = await setUp()
    const issues = await valueOf(tools, 'github.issues.list', [
      { repo: REPO, labels: ['bug'], since: '2026-01-01T00:00:00Z' },
    ])
    expect(issues).toEqual([
      {
        number: 1,
        title: 'It breaks',
        body: '',
        state: 'open',
        url: `https://github.com/${REPO}/issues/1`,
        author: '',
        labels: ['bug'],
        comments: 0,
        createdAt: '2026-01-01T00:00:00Z',
        updatedAt: '2026-01-01T00:00:00Z',
        isPullRequest: false,
      },
    ])
    expect(github.received.at(-1)?.path).toContain('labels=bug&since=2026-01-01T00%3A00%3A00Z')
    expect(github.received.at(-1)?.headers['authorization']).toBe('Bearer ghp_aVerySecretToken')
    expect(await valueOf(tools, 'github.issues.get', [{ repo: REPO, number: 1 }])).toMatchObject({ number: 1 })
    expect(await valueOf(tools, 'github.releases.list', [{ repo: REPO }])).toMatchObject([
      { tag: 'v1', isDraft: false },
    ])
    expect(await valueOf(tools, 'github.notifications.list', [])).toMatchObject([{ repo: REPO, title: 'It breaks' }])
  })

  it('works without a token, for what is public', async () => {
    const { tools } = await setUp(false)
    await valueOf(tools, 'github.issues.list', [{ repo: REPO }])
    expect(github.received.at(-1)?.headers).not.toHaveProperty('authorization')
  })

  it('waits until the limit is lifted when it is used up', async () => {
    const { clock, tools } = await setUp()
    github.refuseNext(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(clock.now() / 1_000 + 60) })
    expect(await callTool(tools, 'github.issues.list', [{ repo: REPO }])).toMatchObject({
      kind: 'failed',
      failure: { type: 'network', retryAfterMs: 60_000 },
    })
    github.refuseNext(403, { 'retry-after': '30' })
    expect(await callTool(tools, 'github.issues.list', [{ repo: REPO }])).toMatchObject({
      failure: { type: 'network', retryAfterMs: 30_000 },
    })
    github.refuseNext(403, {})
    expect(await callTool(tools, 'github.issues.list', [{ repo: REPO }])).toMatchObject({
      failure: { type: 'permission' },
    })
  })

  it.each(['octo', 'octo/hello/x', '../x/y', 'octo/..%2f', 'octo/he llo'])(
    'refuses the repository %s',
    async (repo) => {
      const { tools } = await setUp()
      expect(methodOf(tools, 'github.issues.list').parse([{ repo }])).toMatchObject({ ok: false })
    },
  )
})

describe.each(mutations)('%s', (op, params, count) => {
  const reconcile = (tools: Awaited<ReturnType<typeof setUp>>['tools']) =>
    methodOf(tools, op).reconcile?.(paramsOf(tools, op, params), toolCall({ idempotencyKey: 'k1' }))

  it('happens once for one key, although GitHub knows no keys', async () => {
    const { tools } = await setUp()
    const first = await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    expect(await valueOf(tools, op, [params], { idempotencyKey: 'k1' })).toEqual(first)
    expect(count()).toBe(1)
    await valueOf(tools, op, [params], { idempotencyKey: 'k2' })
    expect(count()).toBe(2)
  })

  it('is found by checking when its response was lost', async () => {
    const { tools } = await setUp()
    github.loseNextPost()
    expect(await callTool(tools, op, [params], { idempotencyKey: 'k1' })).toMatchObject({ certainty: 'uncertain' })
    expect(await reconcile(tools)).toMatchObject({ kind: 'applied' })
  })

  it('is not found when it did not happen', async () => {
    expect(await reconcile((await setUp()).tools)).toEqual({ kind: 'not_applied' })
  })

  it('stays open while GitHub cannot be asked', async () => {
    const { tools } = await setUp()
    github.refuseNext(500, {})
    expect(await reconcile(tools)).toMatchObject({ kind: 'unknown' })
  })

  it('fails for certain when not even the look before could be taken', async () => {
    const { tools } = await setUp()
    github.refuseNext(500, {})
    const outcome = await callTool(tools, op, [params], { idempotencyKey: 'k1' })
    expect(outcome).toMatchObject({ kind: 'failed', certainty: 'definite', failure: { type: 'network' } })
    expect(count()).toBe(0)
  })

  it('asks for a token when there is none', async () => {
    const { tools } = await setUp(false)
    expect(await callTool(tools, op, [params])).toMatchObject({ certainty: 'definite', failure: { type: 'auth' } })
  })

  it('needs the permission for the repository', async () => {
    const { tools } = await setUp()
    expect(methodOf(tools, op).permissionsFor(paramsOf(tools, op, params))).toEqual(['github:octo/hello'])
  })
})

describe('a comment on an issue with hundreds of comments', () => {
  it('is found on the last pages', async () => {
    const { tools } = await setUp()
    github.fillComments(250)
    await valueOf(tools, 'github.issues.comment', [{ repo: REPO, number: 1, body: 'Mine' }], { idempotencyKey: 'k1' })
    github.fillComments(60)
    const params = paramsOf(tools, 'github.issues.comment', { repo: REPO, number: 1, body: 'Mine' })
    const call = toolCall({ idempotencyKey: 'k1' })
    expect(await methodOf(tools, 'github.issues.comment').reconcile?.(params, call)).toMatchObject({ kind: 'applied' })
  })
})
