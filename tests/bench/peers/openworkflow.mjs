// openworkflow on SQLite. How many runs go side by side belongs to the worker: one for each, on a file of its own.
import { OpenWorkflow } from 'openworkflow'
import { BackendSqlite } from 'openworkflow/sqlite'
import { leaveTrace, servePeer } from './serve-peer.mjs'

/** @param {string} file @param {number} concurrency */
const open = async (file, concurrency) => {
  const ow = new OpenWorkflow({ backend: BackendSqlite.connect(`${process.env.PEER_DATA}/${file}`) })
  let onEnd = () => undefined
  const carry = ow.defineWorkflow({ name: 'carry' }, async ({ input, step }) => {
    const prepared = await step.run({ name: 'prepare' }, async () => ({ n: leaveTrace('prepare', input.n) }))
    await step.run({ name: 'mutate' }, async () => leaveTrace('mutate', prepared.n))
    const state = await step.run({ name: 'next' }, async () => ({ last: leaveTrace('next', prepared.n) }))
    onEnd()
    return state
  })
  /** @type {Map<number, (late: number) => void>} */
  const sleepers = new Map()
  const napping = ow.defineWorkflow({ name: 'nap' }, async ({ input, step }) => {
    const due = await step.run({ name: 'due' }, async () => Date.now() + input.ms)
    await step.sleep('nap', `${Math.max(1, due - Date.now())}ms`)
    await step.run({ name: 'started' }, async () => sleepers.get(input.id)?.(Date.now() - due))
  })
  await ow.newWorker({ concurrency }).start()
  /** Its handles ask for the result once a second: better told by the workflow itself. @param {number[]} ns */
  const runAll = async (ns) => {
    let left = ns.length
    const ended = new Promise((resolve) => {
      onEnd = () => {
        left -= 1
        if (left === 0) resolve(undefined)
      }
    })
    for (const n of ns) await carry.run({ n })
    await ended
  }
  /** @param {number} ms @returns {Promise<number>} */
  const nap = (ms) =>
    new Promise((resolve, reject) => {
      const id = sleepers.size
      sleepers.set(id, resolve)
      napping.run({ id, ms }).catch(reject)
    })
  return { carry, runAll, nap }
}

const alone = await open('one.db', 1)
const together = await open('many.db', 64)
const eight = await open('eight.db', 8)

servePeer({
  runOne: (n) => alone.runAll([n]),
  runAllOneByOne: (ns) => alone.runAll(ns),
  runMany: (ns) => together.runAll(ns),
  accept: async (ns, onAccepted) => {
    for (const n of ns) {
      await eight.carry.run({ n })
      onAccepted(n)
    }
  },
  nap: together.nap,
})
