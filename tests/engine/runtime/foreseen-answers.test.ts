import { createAttemptHost } from '#engine/runtime/phase-host.ts'
import { defaultOptions } from '#engine/runtime/ports.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { buildHandlerRun, buildPublication, insertActiveRun } from '../../support/build-rows.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { openTestStore, type TestStore } from '../../support/open-test-store.ts'

const clock = createHandClock()
const neverAborted = { aborted: false, addEventListener: () => undefined, removeEventListener: () => undefined }
let opened: TestStore

beforeEach(async () => {
  opened = await openTestStore()
  opened.store.transaction((tx) => {
    insertActiveRun(tx)
    tx.events.publish(buildPublication({ messageId: 'a' }))
  })
})

const hostOf = (phase: 'prepare' | 'next' = 'prepare') =>
  createAttemptHost(
    {
      store: opened.store,
      clock,
      ids: createMonotonicIds(clock, () => 0.5, null),
      tools: { find: () => undefined, list: () => [], covers: () => true },
    },
    defaultOptions,
    { run: buildHandlerRun(), phase, granted: [], subscribe: [TOPIC], publishes: [] },
  )
const TOPIC = buildPublication().topic
const ARGS = JSON.stringify([TOPIC, { limit: 1 }])

describe('a look at a topic that is foreseen', () => {
  it('is answered as it would be if the script asked', async () => {
    const foreseen = hostOf().foresee?.('topics.peek', ARGS)
    const asked = await hostOf().call('topics.peek', ARGS, neverAborted)
    expect(asked).toEqual({ kind: 'value', value: foreseen?.value })
    expect(foreseen?.value).toContain('"messageId":"a"')
  })

  it('counts as seen only once the script has asked for it', () => {
    const host = hostOf()
    const foreseen = host.foresee?.('topics.peek', ARGS)
    expect(host.touched()).toEqual([])
    foreseen?.taken()
    expect(host.touched()).toEqual([{ topic: TOPIC, ids: ['a'] }])
  })

  it.each([
    ['of another operation', 'topics.getByIds', JSON.stringify([TOPIC, ['a']])],
    ['of a topic it may not see', 'topics.peek', '["elsewhere"]'],
    ['with arguments that are wrong', 'topics.peek', '[7]'],
  ])('%s is not', (_what, op, args) => {
    expect(hostOf().foresee?.(op, args)).toBeUndefined()
  })

  it('where looking is not allowed is not', () => {
    expect(hostOf('next').foresee?.('topics.peek', ARGS)).toBeUndefined()
  })
})
