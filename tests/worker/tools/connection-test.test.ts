import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryVaultStorage } from '#worker/secrets/vault-storage.ts'
import { createVault, type Vault } from '#worker/secrets/vault.ts'
import { createSystemClock } from '#worker/system-clock.ts'
import { createConnectionTest } from '#worker/tools/connection-test.ts'
import { createLlmTools } from '#worker/tools/llm/llm-tools.ts'
import type { LlmConnection } from '#worker/tools/llm/connection.ts'
import { startMisbehavingServer, type MisbehavingServer } from '../../support/misbehaving-server.ts'

const TOKEN = 'a-token-that-nobody-may-see'
let server: MisbehavingServer
let vault: Vault

beforeEach(async () => {
  server = await startMisbehavingServer()
  vault = createVault({ storage: createMemoryVaultStorage(), now: () => 0 })
  await vault.put({ name: 'TOKEN', value: TOKEN, hosts: [server.host] })
})
afterEach(() => server.close())

function testerOf(token = true) {
  const clock = createSystemClock()
  const deps = { fetch, clock, vault, isOnline: () => true }
  const llm: LlmConnection = {
    name: 'Mine',
    provider: 'openai',
    baseUrl: `${server.url}/v1`,
    model: 'small',
    apiKey: 'secret:TOKEN',
    inputPrice: 0,
    outputPrice: 0,
  }
  const methods = createLlmTools({ ...deps, llm: { connections: () => Promise.resolve([llm]) } })
  const github = () => Promise.resolve({ baseUrl: server.url, ...(token && { token: 'secret:TOKEN' }) })
  const find = (_namespace: string, method: string) => methods.find((one) => one.method === method)
  return createConnectionTest({ ...deps, find, github })
}

describe('testing a connection', () => {
  it('asks the language model with its key and says who answered', async () => {
    server.on('/v1/chat/completions', (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ model: 'small-2', choices: [{ message: { content: 'ok' } }], usage: {} })),
    )
    expect(await testerOf()({ kind: 'llm', name: 'Mine' })).toEqual({
      ok: true,
      value: { message: 'small-2 answered.' },
    })
    expect(server.received[0]?.headers['authorization']).toBe(`Bearer ${TOKEN}`)
  })

  it('asks GitHub, with the token where there is one', async () => {
    server.on('/rate_limit', (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"rate":{"remaining":12}}'),
    )
    expect(await testerOf()({ kind: 'github' })).toMatchObject({
      value: { message: 'GitHub answered. It knows the token.' },
    })
    expect(server.received[0]?.headers['authorization']).toBe(`Bearer ${TOKEN}`)
    expect(await testerOf(false)({ kind: 'github' })).toMatchObject({
      value: { message: expect.stringContaining('only public things') as unknown },
    })
    expect(server.received[1]?.headers['authorization']).toBeUndefined()
  })

  it.each([
    [401, 'bad credentials'],
    [500, 'out of order'],
  ])('says what the other side said when it answers %s, and never the key that it echoes', async (status, words) => {
    for (const path of ['/rate_limit', '/v1/chat/completions']) {
      server.on(path, (response, { headers }) =>
        response.writeHead(status).end(`${words} ${String(headers['authorization'])}`),
      )
    }
    for (const which of [{ kind: 'github' } as const, { kind: 'llm', name: 'Mine' } as const]) {
      const tested = await testerOf()(which)
      const message = tested.ok ? '' : tested.error
      expect(message).toContain(`answered ${String(status)}`)
      expect(message).toContain(words)
      expect(message).not.toContain(TOKEN)
    }
  })

  it('says that a language model of this name was not set up', async () => {
    expect(await testerOf()({ kind: 'llm', name: 'Other' })).toMatchObject({
      ok: false,
      error: expect.stringContaining('There is no language model "Other"') as unknown,
    })
  })
})
