// openworkflow on SQLite; it looks for new runs by itself, with growing pauses.
import { OpenWorkflow } from 'openworkflow'
import { BackendSqlite } from 'openworkflow/sqlite'
import { noteDone, servePeer } from './serve-peer.mjs'

const ow = new OpenWorkflow({ backend: BackendSqlite.connect(`${process.env.PEER_DATA}/openworkflow.db`) })
const carry = ow.defineWorkflow({ name: 'carry' }, async ({ input, step }) => {
  const prepared = await step.run({ name: 'prepare' }, async () => ({ n: input.n }))
  await step.run({ name: 'mutate' }, async () => noteDone('mutate', prepared.n))
  return step.run({ name: 'next' }, async () => ({ last: prepared.n }))
})
const worker = ow.newWorker({ concurrency: 64 })
await worker.start()

servePeer({ runOne: async (n) => (await carry.run({ n })).result(), close: () => worker.stop() })
