// openworkflow on SQLite. How many runs go side by side belongs to the worker: one for each, on a file of its own.
import { OpenWorkflow } from 'openworkflow'
import { BackendSqlite } from 'openworkflow/sqlite'
import { noteDone, servePeer } from './serve-peer.mjs'

/** @param {string} file @param {number} concurrency */
const open = async (file, concurrency) => {
  const ow = new OpenWorkflow({ backend: BackendSqlite.connect(`${process.env.PEER_DATA}/${file}`) })
  let onEnd = () => undefined
  const carry = ow.defineWorkflow({ name: 'carry' }, async ({ input, step }) => {
    const prepared = await step.run({ name: 'prepare' }, async () => ({ n: input.n }))
    await step.run({ name: 'mutate' }, async () => noteDone('mutate', prepared.n))
    const state = await step.run({ name: 'next' }, async () => ({ last: prepared.n }))
    onEnd()
    return state
  })
  const worker = ow.newWorker({ concurrency })
  await worker.start()
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
  return { worker, runAll }
}

const alone = await open('one.db', 1)
const together = await open('many.db', 64)

servePeer({
  runOne: (n) => alone.runAll([n]),
  runAllOneByOne: (ns) => alone.runAll(ns),
  runMany: (ns) => together.runAll(ns),
  close: async () => {
    await alone.worker.stop()
    await together.worker.stop()
  },
})
