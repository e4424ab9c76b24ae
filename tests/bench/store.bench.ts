import { expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import { median, writeResult } from '../support/bench-results.ts'
import { buildHandlerRun, buildPublication, buildScriptRun, insertWorkflow } from '../support/build-rows.ts'
import { openTestStore } from '../support/open-test-store.ts'

const idOf = (prefix: string, n: number) => `${prefix}_01ARZ3NDEKTSV4RRFF${String(n).padStart(8, '0')}`
const PENDING = 500
const ROUNDS = 400
const CARRIED = 5

/** A store with as many consumed events, and after them PENDING ones still to be carried. */
async function storeWithFinished(finished: number): Promise<Store> {
  const { store, database } = await openTestStore()
  store.transaction((tx) => {
    insertWorkflow(tx)
    tx.scriptRuns.insert(buildScriptRun())
    tx.handlerRuns.insert(buildHandlerRun())
    for (let n = 0; n < finished + PENDING; n++) tx.events.publish(publication(n))
    database.run(`UPDATE events SET status = 'consumed' WHERE id < ?`, [idOf('evt', finished)])
  })
  return store
}

const publication = (n: number) =>
  buildPublication({
    id: idOf('evt', n),
    messageId: `message-${n}`,
    payload: JSON.stringify({ text: 'x'.repeat(200) }),
  })

/** What the scheduler and a consumer ask of the store for one event, and as much again given back. */
function carryOne(store: Store): void {
  store.events.pendingByTopic(['wf_1'])
  const [event] = store.events.peek('wf_1', 'mail', 1)
  if (!event) throw new Error('nothing pending')
  store.transaction((tx) => tx.events.reserve([event.id], 'hr_1'))
  store.events.reservedBy('hr_1')
  store.transaction((tx) => tx.events.releaseReserved('hr_1'))
  store.handlerRuns.dueRetries(1)
  store.handlerStates.dueWakes(1)
  store.producerSchedules.due(1)
}

test(
  'a quarter of a million finished events cost the carrying of one event nothing',
  { timeout: 300_000 },
  async () => {
    const stores = [await storeWithFinished(1_000), await storeWithFinished(250_000)]
    const times: number[][] = stores.map(() => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, store] of stores.entries()) {
        const start = performance.now()
        for (let n = 0; n < CARRIED; n++) carryOne(store)
        times[i]?.push(((performance.now() - start) * 1000) / CARRIED)
      }
    }
    const [few = [], many = []] = times
    const ratio = median(many) / median(few)
    await writeResult('store', {
      workload: 'W5',
      title: 'What one event asks of the store',
      tables: [
        {
          title: 'Looks and reservations for one event',
          unit: 'µs',
          better: 'lower',
          reference: '1,000 finished events',
          series: [
            { name: '1,000 finished events', values: few },
            { name: '250,000 finished events', values: many },
          ],
        },
      ],
      checks: [{ promise: 'With 250,000 finished events ÷ with 1,000', measured: ratio, atMost: 1.5 }],
      notes: ['Real sql.js in one process, no disk, no script. The two stores take turns.'],
    })
    expect(ratio).toBeLessThan(1.5)
  },
)
