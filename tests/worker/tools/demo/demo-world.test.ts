import { describe, expect, it } from 'vitest'
import type { Json } from '#engine/model/json.ts'
import { createDemoWorld, type DemoWorld } from '#worker/tools/demo/world.ts'
import { createMemoryKeyValue } from '#worker/tools/key-value.ts'
import { callTool, methodOf, paramsOf, toolCall, valueOf } from '../../../support/call-tool.ts'
import { createHandClock } from '../../../support/hand-clock.ts'

const finderOf = (world: DemoWorld) => ({
  find: (namespace: string, method: string) =>
    world.tools.find((tool) => tool.namespace === namespace && tool.method === method),
})

function setUp(seed = 'seed') {
  const clock = createHandClock()
  const storage = createMemoryKeyValue()
  const open = () => createDemoWorld({ clock, storage, seed })
  const world = open()
  return { clock, storage, world, open, tools: finderOf(world) }
}

const ids = (mails: Json): unknown => (mails as { id: string }[]).map(({ id }) => id)

const mutations: [string, Json, string][] = [
  ['demo.sheet.append', { sheet: 'Orders', values: { amount: 3 } }, 'sheets'],
  ['demo.sheet.update', { sheet: 'Customers', id: 'row-1', values: { note: 'called' } }, 'sheets'],
  ['demo.chat.send', { channel: 'support', text: 'hello' }, 'chats'],
  ['demo.inbox.archive', { id: 'mail-1' }, 'mails'],
  ['demo.inbox.reply', { id: 'mail-1', text: 'thanks' }, 'replies'],
]

describe('the demo inbox', () => {
  it('holds a few mails from the start and gets more as time passes', async () => {
    const { clock, tools } = setUp()
    expect(ids(await valueOf(tools, 'demo.inbox.list', []))).toEqual(['mail-1', 'mail-2', 'mail-3', 'mail-4', 'mail-5'])
    clock.advance(60_000)
    expect(ids(await valueOf(tools, 'demo.inbox.list', [{ after: 'mail-5' }]))).toEqual(['mail-6', 'mail-7', 'mail-8'])
  })

  it('is the same for the same seed and clock, and another one for another seed', async () => {
    const list = async (seed: string) => {
      const { clock, tools } = setUp(seed)
      await valueOf(tools, 'demo.inbox.list', [])
      clock.advance(300_000)
      return valueOf(tools, 'demo.inbox.list', [])
    }
    expect(await list('one')).toEqual(await list('one'))
    expect(await list('one')).not.toEqual(await list('two'))
  })

  it('gives every mail exactly once to a reader that follows the cursor, whatever the size of its pages', async () => {
    const { clock, world, tools } = setUp()
    const seen: string[] = []
    for (let step = 0; step < 60; step++) {
      clock.advance(7_000)
      if (step % 5 === 0) await world.deliver({ from: 'me@here.example', subject: `Hello ${step}` })
      const after = seen.at(-1)
      const page = await valueOf(tools, 'demo.inbox.list', [{ limit: 1 + (step % 3), ...(after && { after }) }])
      seen.push(...(ids(page) as string[]))
    }
    for (let page = ['']; page.length > 0;) {
      page = ids(await valueOf(tools, 'demo.inbox.list', [{ after: seen.at(-1) ?? '' }])) as string[]
      seen.push(...page)
    }
    const all = (await world.snapshot()).mails.map(({ id }) => id)
    expect(all.length).toBeGreaterThan(30)
    expect(seen).toEqual(all)
  })

  it('does not bury a visitor who was away for a week', async () => {
    const { clock, tools, open } = setUp()
    await valueOf(tools, 'demo.inbox.list', [])
    clock.advance(7 * 24 * 60 * 60 * 1000)
    const waiting = await valueOf(finderOf(open()), 'demo.inbox.list', [{ after: 'mail-5', limit: 100 }])
    const length = (waiting as Json[]).length
    expect(length).toBeGreaterThanOrEqual(49)
    expect(length).toBeLessThanOrEqual(51)
  })

  it('keeps quiet when the pace is zero and goes on when it is not', async () => {
    const { clock, world, tools } = setUp()
    await world.setPace(0)
    clock.advance(10_000_000)
    expect(await valueOf(tools, 'demo.inbox.list', [{ after: 'mail-5' }])).toEqual([])
    await world.setPace(1_000)
    clock.advance(3_000)
    expect(await valueOf(tools, 'demo.inbox.list', [{ after: 'mail-5' }])).toHaveLength(3)
  })

  it('answers null for a mail that has not come yet, and says no to archiving it', async () => {
    const { tools } = setUp()
    expect(await valueOf(tools, 'demo.inbox.get', ['mail-6'])).toBeNull()
    expect(await callTool(tools, 'demo.inbox.archive', [{ id: 'mail-6' }])).toMatchObject({
      kind: 'failed',
      certainty: 'definite',
      failure: { type: 'logic', message: 'There is no mail mail-6 in the demo inbox' },
    })
  })
})

describe('the demo sheet and chat', () => {
  it('show what was written to them', async () => {
    const { tools } = setUp()
    const row = await valueOf(tools, 'demo.sheet.append', [{ values: { a: 1 } }])
    expect(await valueOf(tools, 'demo.sheet.rows', [])).toEqual([row])
    await valueOf(tools, 'demo.sheet.update', [{ id: 'row-1', values: { b: 2 } }])
    expect(await valueOf(tools, 'demo.sheet.rows', [])).toEqual([{ id: 'row-1', values: { a: 1, b: 2 } }])
    await valueOf(tools, 'demo.chat.send', [{ text: 'hi' }])
    expect(await valueOf(tools, 'demo.chat.messages', [])).toContainEqual(expect.objectContaining({ text: 'hi' }))
  })
})

describe.each(mutations)('%s', (op, params, part) => {
  it('leaves its effect in the world even when nobody is there any more to hear the answer', async () => {
    const { open, tools, world } = setUp()
    const before = (await world.snapshot())[part as 'sheets']
    await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    const after = (await open().snapshot())[part as 'sheets']
    expect(after).not.toEqual(before)
  })

  it('happens once for one idempotency key and answers the same each time', async () => {
    const { tools, world } = setUp()
    const first = await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    const once = await world.snapshot()
    expect(await valueOf(tools, op, [params], { idempotencyKey: 'k1' })).toEqual(first)
    const twice = await world.snapshot()
    expect(twice[part as 'sheets']).toEqual(once[part as 'sheets'])
    expect(twice.effects).toMatchObject([{ key: 'k1', repeats: 1 }])
  })

  it('happens although its response was lost, and checking finds it', async () => {
    const { tools, world } = setUp()
    await world.setKnobs({ loseNextResponse: 1 })
    expect(await callTool(tools, op, [params], { idempotencyKey: 'k1' })).toMatchObject({
      kind: 'failed',
      certainty: 'uncertain',
      failure: { type: 'network' },
    })
    const check = await methodOf(tools, op).reconcile?.(paramsOf(tools, op, params), toolCall({ idempotencyKey: 'k1' }))
    expect(check?.kind).toBe('applied')
    expect((await world.snapshot()).knobs.loseNextResponse).toBe(0)
  })

  it('did not happen when its request was dropped or refused, and checking says so', async () => {
    const { tools, world } = setUp()
    await world.setKnobs({ dropNextRequest: 1 })
    expect(await callTool(tools, op, [params], { idempotencyKey: 'k1' })).toMatchObject({ certainty: 'uncertain' })
    await world.setKnobs({ failNext: 1, failAs: 'auth' })
    expect(await callTool(tools, op, [params], { idempotencyKey: 'k1' })).toMatchObject({
      certainty: 'definite',
      failure: { type: 'auth' },
    })
    const method = methodOf(tools, op)
    expect(await method.reconcile?.(paramsOf(tools, op, params), toolCall({ idempotencyKey: 'k1' }))).toEqual({
      kind: 'not_applied',
      isFinal: true,
    })
    expect((await world.snapshot()).effects).toEqual([])
  })

  it('that was looked for in vain cannot arrive any more, and a retry with the same key can', async () => {
    const { tools, world } = setUp()
    const method = methodOf(tools, op)
    const late = { idempotencyKey: 'k1', handlerRunId: 'late' }
    const found = await method.reconcile?.(paramsOf(tools, op, params), toolCall(late))
    expect(found).toEqual({ kind: 'not_applied', isFinal: true })
    expect(await callTool(tools, op, [params], late)).toMatchObject({ kind: 'failed', certainty: 'definite' })
    expect((await world.snapshot()).effects).toEqual([])
    await valueOf(tools, op, [params], { idempotencyKey: 'k1', handlerRunId: 'retry' })
    expect((await world.snapshot()).effects).toHaveLength(1)
  })

  it.each([true, false])('answers a hanging call only when it is given up (applied: %s)', async (hangApplies) => {
    const { tools, world } = setUp()
    await world.setKnobs({ hangNext: 1, hangApplies })
    const controller = new AbortController()
    let isSettled = false
    const outcome = callTool(tools, op, [params], { idempotencyKey: 'k1', signal: controller.signal }).finally(() => {
      isSettled = true
    })
    // Long enough for every step of an answer; none of them waits for a timer.
    for (let turn = 0; turn < 100; turn++) await Promise.resolve()
    expect(isSettled).toBe(false)
    controller.abort()
    expect(await outcome).toMatchObject({ kind: 'failed', certainty: 'uncertain' })
    expect((await world.snapshot()).effects).toHaveLength(hangApplies ? 1 : 0)
  })

  it('happens twice when the world does not recognise keys', async () => {
    const { tools, world } = setUp()
    await world.setKnobs({ ignoreKeys: true })
    await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    expect((await world.snapshot()).effects).toHaveLength(2)
  })

  it('says where a person can look', () => {
    const { tools } = setUp()
    expect(methodOf(tools, op).whereToCheck?.(paramsOf(tools, op, params))).toMatch(/^Look .+\.$/)
  })
})

describe('the knobs', () => {
  it('make a call take as long as the latency, there and back', async () => {
    const { clock, tools, world } = setUp()
    await world.setKnobs({ latencyMs: 1_000 })
    let isSettled = false
    const outcome = callTool(tools, 'demo.chat.send', [{ text: 'x' }]).finally(() => {
      isSettled = true
    })
    const turns = async () => {
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    }
    await turns()
    clock.advance(500)
    await turns()
    expect((await world.snapshot()).effects).toHaveLength(1)
    clock.advance(499)
    await turns()
    expect(isSettled).toBe(false)
    clock.advance(1)
    expect(await outcome).toMatchObject({ kind: 'ok' })
  })

  it('fail about the share of calls they are told to, and the same ones for the same seed', async () => {
    const fates = async () => {
      const { tools, world } = setUp()
      await world.setKnobs({ failureRate: 0.25, lostResponseRate: 0.25 })
      const outcomes: string[] = []
      for (let n = 0; n < 200; n++) {
        const outcome = await callTool(tools, 'demo.chat.send', [{ text: 'x' }], { idempotencyKey: `k${n}` })
        outcomes.push(outcome.kind === 'ok' ? 'ok' : outcome.certainty)
      }
      return outcomes
    }
    const outcomes = await fates()
    expect(outcomes).toEqual(await fates())
    for (const fate of ['definite', 'uncertain']) {
      const share = outcomes.filter((outcome) => outcome === fate).length / outcomes.length
      expect(share).toBeGreaterThan(0.12)
      expect(share).toBeLessThan(0.38)
    }
  })

  it('befall reads and mutations separately', async () => {
    const { tools, world } = setUp()
    await world.setKnobs({ failNextRead: 1, failNext: 1 })
    expect(await callTool(tools, 'demo.sheet.rows', [])).toMatchObject({ kind: 'failed', failure: { type: 'network' } })
    expect(await callTool(tools, 'demo.sheet.rows', [])).toMatchObject({ kind: 'ok' })
    expect(await callTool(tools, 'demo.chat.send', [{ text: 'x' }])).toMatchObject({ kind: 'failed' })
  })

  it('can leave a check without an answer for a while', async () => {
    const { tools, world } = setUp()
    await world.setKnobs({ unknownNextCheck: 1 })
    const params = paramsOf(tools, 'demo.chat.send', { text: 'x' })
    const reconcile = () => methodOf(tools, 'demo.chat.send').reconcile?.(params, toolCall({ idempotencyKey: 'k' }))
    expect(await reconcile()).toMatchObject({ kind: 'unknown' })
    expect(await reconcile()).toEqual({ kind: 'not_applied', isFinal: true })
  })

  it('refuse a setting that makes no sense', async () => {
    await expect(setUp().world.setKnobs({ failureRate: 2 })).rejects.toThrow()
  })

  it('are back at rest after a reset, with everything else', async () => {
    const { tools, world } = setUp()
    await world.setKnobs({ failNext: 3 })
    await world.setKnobs({ failNext: 0 })
    await valueOf(tools, 'demo.chat.send', [{ text: 'x' }])
    await world.reset()
    expect(await world.snapshot()).toMatchObject({ effects: [], knobs: { failNext: 0 } })
  })
})

describe('arguments', () => {
  it.each<[string, Json[], string]>([
    ['demo.inbox.list', [{ limit: 0 }], '`limit`: Invalid value: Expected >=1 but received 0'],
    ['demo.inbox.list', [{ limt: 5 }], 'there is no option `limt`'],
    ['demo.inbox.list', [{}, {}], 'takes one argument, an object'],
    ['demo.inbox.get', [], '`id` is missing'],
    ['demo.sheet.append', [{ values: 'x' }], '`values`: Invalid type: Expected Object but received "x"'],
    ['demo.chat.send', [{ channel: 'a' }], '`text` is missing'],
  ])('that %s cannot use are refused with a sentence that says which and how to use it', (op, args, message) => {
    const parsed = methodOf(setUp().tools, op).parse(args)
    expect(parsed).toMatchObject({ ok: false })
    expect(parsed.ok ? '' : parsed.error).toContain(message)
    expect(parsed.ok ? '' : parsed.error).toContain(`Use it as ${op}(`)
  })
})
