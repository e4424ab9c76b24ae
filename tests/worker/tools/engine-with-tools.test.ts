import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEngine } from '#engine/runtime/engine.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { createTools } from '#worker/tools/registry.ts'
import { startMisbehavingServer, type MisbehavingServer } from '../../support/misbehaving-server.ts'
import { openTestStore } from '../../support/open-test-store.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { createToolKit } from '../../support/tool-kit.ts'
import { upkeepPorts } from '../../support/upkeep-ports.ts'

const VALUE = 'sk-a-very-secret-key'

let server: MisbehavingServer
beforeAll(async () => {
  server = await startMisbehavingServer()
})
afterAll(() => server.close())

/** The real engine, store and QuickJS with the real tools. */
async function setUp() {
  const kit = createToolKit()
  const { store, exportBytes, database } = await openTestStore()
  const tools = createTools(kit)
  const random = createSeededRandom(1)
  const sandbox = await createSandbox({ wasm: await loadQuickjsWasm(), compile: compileScript })
  const engine = createEngine({
    store,
    clock: kit.clock,
    ids: createMonotonicIds(kit.clock, () => random.next(), null),
    sandbox,
    tools,
    durability: { barrier: () => Promise.resolve(), flushSoon: () => undefined, isAccepting: () => true },
    crash: { reach: () => undefined },
    ...upkeepPorts(database),
  })
  engine.start()
  const deploy = async (source: string): Promise<void> => {
    const deployed = await engine.deployWorkflow({ source })
    if (!deployed.ok) throw new Error(`${deployed.error.message} ${JSON.stringify(deployed.error.details)}`)
    const started = await engine.runWorkflow(deployed.value.workflowId)
    if (!started.ok && started.error.code !== 'run_active') throw new Error(started.error.message)
    await engine.idle()
  }
  return { kit, tools, engine, database, exportBytes, deploy }
}

const carrier = (permissions: string, producer: string, mutate: string) => `
export default defineWorkflow({
  name: 'carrier',
  permissions: ${permissions},
  topics: { item: {} },
  producers: {
    poll: { schedule: { interval: '1h' }, publishes: ['item'], async handler(state, ctx) { ${producer} } },
  },
  consumers: {
    carry: {
      subscribe: ['item'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('item', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'item', ids: [event.messageId] }], data: event.payload }
      },
      async mutate({ data }, ctx) { ${mutate} },
      async next(prepared, mutation, ctx) { console.log('next', JSON.stringify(mutation)) },
    },
  },
})`

describe('a workflow over the demo world', () => {
  it('carries every mail into the sheet once, although the world refuses calls at random', async () => {
    const { kit, tools, database, engine, deploy } = await setUp()
    await tools.demo.setKnobs({ failureRate: 0.2 })
    const producer = `
      const mails = await ctx.demo.inbox.list({ after: state?.cursor })
      for (const mail of mails) await ctx.topics.publish('item', { messageId: mail.id, payload: { id: mail.id } })
      return { cursor: mails.at(-1)?.id ?? state?.cursor }`
    await deploy(carrier(`['demo']`, producer, `await ctx.demo.sheet.append({ sheet: 'Mails', values: data })`))
    for (let minute = 0; minute < 20; minute++) {
      kit.clock.advance(60_000)
      await engine.idle()
    }
    const { sheets, effects } = await tools.demo.snapshot()
    const carried = sheets['Mails']?.map(({ values }) => values['id'])
    expect(carried?.toSorted()).toEqual(['mail-1', 'mail-2', 'mail-3', 'mail-4', 'mail-5'])
    expect(new Set(effects.map(({ key }) => key)).size).toBe(effects.length)
    expect(database.all("SELECT * FROM handler_runs WHERE status = 'paused:transient'").length).toBeGreaterThan(0)
  })
})

describe('a secret that a workflow uses', () => {
  it('is nowhere in the database, the logs or the export, although the server sends it back', async () => {
    const { kit, database, engine, exportBytes, deploy } = await setUp()
    await kit.vault.put({ name: 'KEY', value: VALUE, hosts: [server.host] })
    server.on('/refuse', (response, request) => response.writeHead(422).end(JSON.stringify(request)))
    const headers = `{ authorization: 'Bearer secret:KEY' }`
    const producer = `
      const { body } = await ctx.http.get('${server.url}/echo', { headers: ${headers} })
      console.log('the server said', JSON.stringify(body))
      try { await ctx.http.get('${server.url}/refuse', { headers: ${headers} }) } catch (error) { console.log(error.message, error.stack) }
      await ctx.topics.publish('item', { messageId: 'echoed', title: body.headers.authorization, payload: body })
      await ctx.topics.publish('item', { messageId: 'refused', payload: { path: 'refuse' } })
      return { body }`
    const mutate = `await ctx.http.post('${server.url}/' + (data.path === 'refuse' ? 'refuse' : 'echo'), { json: data, headers: ${headers} })`
    await deploy(carrier(`['http:${server.host}']`, producer, mutate))
    await engine.idle()

    const sent = server.received.filter((request) => request.headers['authorization'] === `Bearer ${VALUE}`)
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual(
      expect.arrayContaining(['GET /echo', 'GET /refuse', 'POST /echo', 'POST /refuse']),
    )
    const everything = Buffer.from(exportBytes()).toString('latin1')
    expect(everything).toContain('[secret KEY]')
    for (const form of [VALUE, btoa(VALUE), encodeURIComponent(VALUE)]) expect(everything).not.toContain(form)
    expect(database.all('SELECT * FROM mutations').length).toBeGreaterThan(0)
  })
})

describe('a host that was not granted', () => {
  it('is reached by no trick with redirects, user names, other ways to write an address, or capital letters', async () => {
    const { database, engine, deploy } = await setUp()
    const granted = await startMisbehavingServer()
    const denied = await startMisbehavingServer()
    const port = denied.host.split(':')[1] ?? ''
    const addresses = [
      denied.url,
      `http://api.example.com@127.0.0.1:${port}/json`,
      `http://api.example.com:x@127.0.0.1:${port}/json`,
      `http://2130706433:${port}/json`,
      `http://0x7f.1:${port}/json`,
      `http://0177.0.0.1:${port}/json`,
      `http://127.1:${port}/json`,
      `http://127.0.0.1.:${port}/json`,
      `http://LOCALHOST:${port}/json`,
      `HTTP://LocalHost:${port}/json`,
      `http://[::ffff:127.0.0.1]:${port}/json`,
      `http:\\\\127.0.0.1:${port}\\json`,
      `http:127.0.0.1:${port}/json`,
      `http://１２７.0.0.1:${port}/json`,
      `http://api.example.com#@127.0.0.1:${port}/json`,
      `${granted.url}/redirect?status=302&to=${encodeURIComponent(`${denied.url}/json`)}`,
      `${granted.url}/redirect?status=307&to=${encodeURIComponent(`${denied.url}/json`)}`,
    ]
    const producer = `
      const refusals = []
      for (const address of ${JSON.stringify(addresses)}) {
        for (const options of [{}, { followRedirects: true }]) {
          try { await ctx.http.get(address, options) } catch (error) { refusals.push(error.message) }
        }
      }
      return { refusals }`
    await deploy(carrier(`['http:api.example.com', 'http:${granted.host}']`, producer, ''))
    await engine.idle()
    const [state] = database.all(`SELECT state FROM handler_state WHERE handler_name = 'poll'`)
    const { refusals } = JSON.parse(String(state?.['state'])) as { refusals: string[] }
    expect(refusals).toHaveLength(addresses.length * 2)
    expect(denied.received).toEqual([])
    expect(granted.received.map(({ path }) => path.split('?')[0])).toEqual(['/redirect', '/redirect'])
    await Promise.all([granted.close(), denied.close()])
  })
})
