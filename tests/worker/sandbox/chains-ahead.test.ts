import type { PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'
import { createChainAhead, type ChainAhead } from '#worker/sandbox/chain-ahead.ts'
import { createChainsAhead } from '#worker/sandbox/chains-ahead.ts'
import { createGuessLuck, type GuessLuck } from '#worker/sandbox/guess-luck.ts'
import type { AheadResult } from '#worker/sandbox/thread.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { createFakePhaseHost, phaseRequest } from '../../support/phase.ts'

const HANDLER = { scriptId: 'scr', handler: 'c' }
const PREPARED = '{"reservations":[{"topic":"t","ids":["a"]}]}'
const APPLIED = '{"status":"applied","result":null}'
const nothing = (): void => undefined

const requestOf = (wanted: Partial<PhaseRequest>): PhaseRequest => phaseRequest('', { ...HANDLER, ...wanted })
/** After a `prepare` that reserved something: `mutate`, and then `next`. */
const chainOf = (wanted: Partial<PhaseRequest> = {}): ChainAhead =>
  createChainAhead(
    requestOf({ phase: 'prepare', ...wanted }),
    { outcome: { kind: 'returned', value: PREPARED } },
    {
      hasMutate: true,
      hasNext: true,
      goesOnWithMutate: true,
      goesOnWithNext: true,
      state: 'null',
      outcome: APPLIED,
      attempts: 1,
      seed: [0, 0],
    },
  )
const MUTATE = { phase: 'mutate', args: [PREPARED] } as const
const NEXT = { phase: 'next', args: [PREPARED, APPLIED] } as const
const asking: AheadResult = { ending: { lastCall: { id: 1, op: 'send', args: '[1]' } }, logs: [], tookForeseen: false }
const state = (value: string): AheadResult => ({
  ending: { outcome: { kind: 'returned', value } },
  logs: [{ level: 'info', message: 'hello' }],
  tookForeseen: false,
})

let luck: GuessLuck
let chains: ReturnType<typeof createChainsAhead>
beforeEach(() => {
  luck = createGuessLuck()
  chains = createChainsAhead(luck)
})

test('what was run ahead for workflows that never ask again is kept within bounds', () => {
  for (let n = 0; n < 100; n += 1) chains.put(chainOf({ workflowId: `wf_${n}` }))
  const isKept = (n: number): boolean => chains.claim(requestOf({ ...MUTATE, workflowId: `wf_${n}` }), nothing, nothing)
  const kept = Array.from({ length: 100 }, (_each, n) => n).filter(isKept)
  expect(kept).toEqual(Array.from({ length: 64 }, (_each, n) => 36 + n))
})

test('what another handler of the workflow runs ahead does not push it out', () => {
  chains.put(chainOf())
  chains.put(chainOf({ handler: 'other' }))
  expect(chains.claim(requestOf(MUTATE), nothing, nothing)).toBe(true)
})

describe('phases that were run ahead', () => {
  test('are taken one after the other, without waiting, as far as they are here', () => {
    const chain = chainOf()
    chains.put(chain)
    const host = createFakePhaseHost({ send: () => ({ kind: 'end' }) })
    expect(chains.take(requestOf(MUTATE))).toBeUndefined()
    chain.hear([asking, state('7')], false)
    expect(chains.take({ ...requestOf(MUTATE), workflowId: 'wf_other' })).toBeUndefined()
    expect(chains.take(requestOf({ ...MUTATE, host }))).toEqual({ kind: 'ended' })
    expect(host.calls).toEqual([{ op: 'send', args: '[1]' }])
    expect(chains.take(requestOf({ ...NEXT, host }))).toEqual({ kind: 'returned', value: '7' })
    expect(host.logs).toEqual([{ level: 'info', message: 'hello' }])
    expect(chains.take(requestOf(NEXT))).toBeUndefined()
  })

  test('are waited for while their thread is at them', async () => {
    const chain = chainOf()
    chains.put(chain)
    const host = createFakePhaseHost({ send: () => ({ kind: 'end' }) })
    const outcome = new Promise<PhaseOutcome>((resolve) => {
      expect(chains.claim(requestOf({ ...MUTATE, host }), resolve, nothing)).toBe(true)
    })
    chain.hear([asking], false)
    expect(await outcome).toEqual({ kind: 'ended' })
  })

  test('are run in their turn once their thread has ended without them', () => {
    const chain = chainOf()
    chains.put(chain)
    let ranInTurn = 0
    chains.claim(requestOf(MUTATE), nothing, () => (ranInTurn += 1))
    chain.hear([], true)
    expect(ranInTurn).toBe(1)
    expect(chains.claim(requestOf(MUTATE), nothing, nothing)).toBe(false)
  })

  test.each([
    ['with another outcome of the mutation', { args: [PREPARED, '{"status":"skipped"}'] }],
    ['of another version', { scriptId: 'scr_2' }],
    ['under other limits', { limits: { cpuMs: 1 } }],
    ['of a session', { values: { session: 1 } }],
  ])('are neither taken nor claimed when next is asked for %s', (_what, wanted) => {
    const chain = chainOf()
    chains.put(chain)
    chain.hear([asking, state('7')], true)
    chains.take(requestOf(MUTATE))
    const request = requestOf({ ...NEXT, ...wanted })
    expect(chains.take(request)).toBeUndefined()
    expect(chains.claim(request, nothing, nothing)).toBe(false)
  })

  test.each([
    ['taken a moment later', 1_040, true],
    ['not taken after a while', 1_060, false],
    ['not taken after the clock was set back', 940, false],
  ])('that looked at the time are %s', (_what, time, isTaken) => {
    const chain = chainOf()
    chain.hear([{ ...asking, sawTime: 1_000 }], true)
    const host = { ...createFakePhaseHost({ send: () => ({ kind: 'end' }) }), now: () => time }
    expect(chain.take(requestOf({ ...MUTATE, host }))).toEqual(isTaken ? { kind: 'ended' } : undefined)
  })

  test('that looked at the time and then took theirs are taken: asked for a moment later, here after a while', async () => {
    const chain = chainOf()
    chains.put(chain)
    let time = 1_003
    const host = { ...createFakePhaseHost({ send: () => ({ kind: 'end' }) }), now: () => time }
    const outcome = new Promise<PhaseOutcome>((resolve, reject) =>
      chains.claim(requestOf({ ...MUTATE, host }), resolve, () => reject(new Error('It was run again.'))),
    )
    time = 1_200
    chain.hear([{ ...asking, sawTime: 1_000 }], true)
    expect(await outcome).toEqual({ kind: 'ended' })
  })

  test('are not held against their handler when time was too short for them, and are when they were wrong', () => {
    const leftAlone = (): boolean => luck.attemptsAhead(HANDLER, 'mutate') === 0
    const late = chainOf()
    chains.put(late)
    chains.claim(requestOf(MUTATE), nothing, nothing)
    late.hear([], true)
    expect(leftAlone()).toBe(false)
    const wrong = chainOf()
    chains.put(wrong)
    chains.claim(requestOf(MUTATE), nothing, nothing)
    wrong.hear([{ ending: null, logs: [], tookForeseen: false }], true)
    expect(leftAlone()).toBe(true)
    const hung = chainOf()
    chains.put(hung)
    chains.claim(requestOf(MUTATE), nothing, nothing)
    hung.lose()
    expect(leftAlone()).toBe(true)
  })

  test('are no more kept once the last of them is taken, and keep nothing of the one who asked before', () => {
    const before = requestOf({ phase: 'prepare' })
    const chain = createChainAhead(
      before,
      { outcome: { kind: 'returned', value: PREPARED } },
      {
        hasMutate: true,
        hasNext: false,
        goesOnWithMutate: true,
        goesOnWithNext: true,
        state: 'null',
        attempts: 1,
        seed: [0, 0],
      },
    )
    expect(Object.keys(chain.handler)).toEqual(['workflowId', 'scriptId', 'handler'])
    chains.put(chain)
    chain.hear([asking], true)
    const host = createFakePhaseHost({ send: () => ({ kind: 'end' }) })
    expect(chains.take(requestOf({ ...MUTATE, host }))).toEqual({ kind: 'ended' })
    expect(chain.phase).toBeUndefined()
    expect(chains.claim(requestOf(MUTATE), nothing, nothing)).toBe(false)
  })

  test('are left alone by a producer that is called the same', () => {
    chains.put(chainOf())
    expect(chains.claim(requestOf({ phase: 'producer', args: ['null'] }), nothing, nothing)).toBe(false)
    expect(chains.claim(requestOf(MUTATE), nothing, nothing)).toBe(true)
  })

  test('that published are not taken without waiting: the host has a say', async () => {
    const chain = chainOf()
    chains.put(chain)
    chain.hear([asking, { ...state('7'), noted: [{ id: 1, op: 'topics.publish', args: '["t",{}]' }] }], true)
    chains.take(requestOf(MUTATE))
    const host = createFakePhaseHost()
    expect(chains.take(requestOf({ ...NEXT, host }))).toBeUndefined()
    const outcome = await new Promise((resolve) => chains.claim(requestOf({ ...NEXT, host }), resolve, nothing))
    expect(outcome).toEqual({ kind: 'returned', value: '7' })
    expect(host.calls).toEqual([{ op: 'topics.publish', args: '["t",{}]' }])
  })
})
