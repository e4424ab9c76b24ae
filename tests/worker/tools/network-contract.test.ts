import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '#engine/model/json.ts'
import { createTools } from '#worker/tools/registry.ts'
import { callTool } from '../../support/call-tool.ts'
import { failed, open, outcomes } from '../../support/http-outcomes.ts'
import { misbehaviourOf, startMisbehavingServer, type MisbehavingServer } from '../../support/misbehaving-server.ts'
import { createToolKit } from '../../support/tool-kit.ts'

/*
 * Every method that goes over the network by another tool's name than `http`, against everything that a server can do wrong.
 * (`http` itself has the same table in http/http-tools.test.ts, in Node, and in e2e/tools.e2e.ts, in Chromium.)
 */

let server: MisbehavingServer
beforeAll(async () => {
  server = await startMisbehavingServer()
})
afterAll(() => server.close())

const REPO = 'octo/hello'
const reads: [op: string, args: Json][] = [
  ['llm.text', { prompt: 'Hello' }],
  ['llm.json', { prompt: 'Hello', schema: { type: 'object' } }],
  ['github.issues.list', { repo: REPO }],
  ['github.issues.get', { repo: REPO, number: 1 }],
  ['github.releases.list', { repo: REPO }],
  ['github.notifications.list', {}],
]
const mutations: [op: string, args: Json, path: string, found: Json][] = [
  ['github.issues.comment', { repo: REPO, number: 1, body: 'Hi' }, `/repos/${REPO}/issues/1/comments`, []],
  ['github.issues.create', { repo: REPO, title: 'New' }, `/repos/${REPO}/issues`, []],
]

async function setUp(url: string) {
  const kit = createToolKit({ llmUrl: url, githubUrl: url })
  await kit.vault.put({ name: 'GITHUB_TOKEN', value: 'ghp_aVerySecretToken', hosts: [server.host] })
  return { clock: kit.clock, tools: createTools(kit) }
}

const toolsAt = async (url: string) => (await setUp(url)).tools

const isFailure = ([path]: (typeof outcomes)[number]) =>
  !path.includes('?retry-after') && !['json', 'empty', 'status/201'].includes(path)
/** A query cannot be kept in front of the path of a service: the redirect is a plain one there. */
const segment = (path: string) => path.split('?')[0] ?? ''

describe.each(reads)('%s', (op, args) => {
  it.each(outcomes.filter(isFailure))('knows what it means that the server does "%s"', async (path, expected) => {
    const tools = await toolsAt(`${server.url}/${segment(path)}`)
    expect(await callTool(tools, op, [args])).toMatchObject(expected)
  })

  it('does not wait for ever', async () => {
    const { clock, tools } = await setUp(`${server.url}/silent`)
    const arrival = server.nextArrival()
    const call = callTool(tools, op, [args])
    await arrival
    clock.advance(60_000)
    expect(await call).toMatchObject(failed('network'))
  })

  it.each(['json', 'empty', 'status/201'])('does not take "%s" for an answer of its service', async (path) => {
    const tools = await toolsAt(`${server.url}/${path}`)
    expect(await callTool(tools, op, [args])).toMatchObject({ kind: 'failed', certainty: 'definite' })
  })
})

describe.each(mutations)('%s', (op, args, path, found) => {
  const answerPostBy = (behaviour: string) =>
    server.on(path, (response, request) => {
      if (request.method === 'POST') misbehaviourOf(behaviour)?.(response, { ...request, path: `/${behaviour}` })
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
    })
  const issue = { number: 1, title: 'x', state: 'open', html_url: 'https://github.com/x', comments: 0 }
  beforeAll(() =>
    server.on(`/repos/${REPO}/issues/1`, (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(issue)),
    ),
  )

  it.each(
    outcomes
      .filter(isFailure)
      .filter(([behaviour, , outcome]) => misbehaviourOf(behaviour) && outcome['kind'] === 'failed'),
  )('is certain only when it is, when the server does "%s"', async (behaviour, _read, expected) => {
    answerPostBy(behaviour)
    const tools = await toolsAt(server.url)
    expect(await callTool(tools, op, [args], { idempotencyKey: 'key' })).toMatchObject(expected)
  })

  it('leaves open whether it happened when no answer comes in time', async () => {
    const posted = new Promise<void>((resolve) => {
      server.on(path, (response, { method }) => {
        if (method === 'POST') resolve()
        else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
      })
    })
    const { clock, tools } = await setUp(server.url)
    const call = callTool(tools, op, [args], { idempotencyKey: 'key' })
    await posted
    clock.advance(60_000)
    expect(await call).toMatchObject(open('network'))
  })
})
