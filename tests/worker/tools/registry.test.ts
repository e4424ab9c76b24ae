import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePermission } from '#worker/tools/permissions.ts'
import { createTools } from '#worker/tools/registry.ts'
import { callTool, toolCall } from '../../support/call-tool.ts'
import { startFakeGithub, type FakeGithub } from '../../support/fake-github.ts'
import { startMisbehavingServer, type MisbehavingServer } from '../../support/misbehaving-server.ts'
import { createToolKit } from '../../support/tool-kit.ts'

const tools = createTools(createToolKit())

describe('the registry', () => {
  it('finds every method that it lists, and nothing else', () => {
    for (const method of tools.list()) expect(tools.find(method.namespace, method.method)).toBe(method)
    expect(tools.find('demo', 'nothing')).toBeUndefined()
    expect(tools.find('constructor', 'call')).toBeUndefined()
  })

  it('has no two methods of one name', () => {
    const names = tools.list().map(({ namespace, method }) => `${namespace}.${method}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it('tells about every method what people need to know', () => {
    for (const tool of tools.list()) {
      const { namespace, method, title, doc, kind } = tool
      const name = `${namespace}.${method}`
      expect(title, name).toMatch(/^[A-Z].+[^.]$/)
      expect(doc.text, name).toMatch(/\.$/)
      expect(doc.signature, name).toMatch(/^\(.*\) => Promise<.+>$/)
      expect(doc.example, name).toContain(`ctx.${name}(`)
      expect('whereToCheck' in tool, `${name} says where to check`).toBe(kind === 'mutation')
    }
  })

  it('can speak about whatever is in the ledger, also about what was refused or written by an older version', async () => {
    const call = toolCall({ idempotencyKey: 'k' })
    for (const method of tools.list()) {
      if (method.kind === 'read') continue
      for (const params of [null, ['a', { b: 1 }], { unknown: true }]) {
        expect(method.whereToCheck?.(params)).toMatch(/^(Look|Paste)/)
        if (method.reconcile) expect(await method.reconcile(params, call)).toMatchObject({ kind: 'unknown' })
      }
    }
  })

  it('asks only for permissions that can be explained in the review', () => {
    const wanted = [
      'demo',
      'notify',
      'clipboard',
      'llm',
      'llm:mine',
      'files:reports',
      'github:octo/hello',
      'github:notifications',
    ]
    for (const permission of wanted) expect(describePermission(permission), permission).toBeDefined()
  })
})

describe('a secret', () => {
  const VALUE = 'sk-a-very-secret-key'
  let server: MisbehavingServer
  let github: FakeGithub
  beforeAll(async () => {
    server = await startMisbehavingServer()
    github = await startFakeGithub()
  })
  afterAll(async () => {
    await server.close()
    await github.close()
  })

  const setUp = async () => {
    const kit = createToolKit({ githubUrl: github.url })
    await kit.vault.put({ name: 'KEY', value: VALUE, hosts: [server.host] })
    return createTools(kit)
  }
  const headers = { authorization: 'Bearer secret:KEY' }

  it('that a server sends back does not reach the script', async () => {
    const outcome = await callTool(await setUp(), 'http.post', [`${server.url}/echo`, { headers }])
    expect(server.received.at(-1)?.headers['authorization']).toBe(`Bearer ${VALUE}`)
    expect(outcome).toHaveProperty('value.body.headers.authorization', 'Bearer [secret KEY]')
    expect(JSON.stringify(outcome)).not.toContain(VALUE)
  })

  it('that a server sends back in an error does not reach the log', async () => {
    server.on('/tell', (response, request) =>
      response.writeHead(400).end(`bad ${request.headers['authorization'] ?? ''}`),
    )
    const outcome = await callTool(await setUp(), 'http.post', [`${server.url}/tell`, { headers }])
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining('bad Bearer [secret KEY]'))
    expect(JSON.stringify(outcome)).not.toContain(VALUE)
  })

  it('that another host has somehow learnt does not reach the script either', async () => {
    server.on('/leak', (response) => response.writeHead(200).end(btoa(VALUE)))
    const outcome = await callTool(await setUp(), 'http.get', [`${server.url}/leak`])
    expect(outcome).toHaveProperty('value.body', expect.stringContaining('[secret KEY]'))
  })

  it('that is found when an outcome is checked is taken out there too', async () => {
    const kit = createToolKit({ githubUrl: github.url })
    await kit.vault.put({ name: 'GITHUB_TOKEN', value: VALUE, hosts: [github.host] })
    const method = createTools(kit).find('github', 'issues.comment')
    github.comments.push({ id: 1, body: `${VALUE} <!-- holdfast:k1 -->` })
    const params = { repo: 'octo/hello', number: 1, body: 'x' }
    const found = await method?.reconcile?.(params, toolCall({ idempotencyKey: 'k1' }))
    expect(found).toMatchObject({ kind: 'applied', value: { body: '[secret GITHUB_TOKEN] <!-- holdfast:k1 -->' } })
  })
})
