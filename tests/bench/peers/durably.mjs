// durably on libSQL, as its README recommends for Node.
import { createDurably, defineJob } from '@coji/durably'
import { createClient } from '@libsql/client'
import { LibsqlDialect } from '@libsql/kysely-libsql'
import { z } from 'zod'
import { noteDone, servePeer } from './serve-peer.mjs'

const client = createClient({ url: `file:${process.env.PEER_DATA}/durably.db` })
const carry = defineJob({
  name: 'carry',
  input: z.object({ n: z.number() }),
  output: z.object({ last: z.number() }),
  run: async (step, { n }) => {
    const prepared = await step.run('prepare', async () => ({ n }))
    await step.run('mutate', async () => noteDone('mutate', prepared.n))
    return step.run('next', async () => ({ last: prepared.n }))
  },
})
const durably = createDurably({
  dialect: new LibsqlDialect({ client }),
  // Its best: no waiting between two looks, as many runs side by side as it allows, results kept as a checkpoint is.
  pollingIntervalMs: 1,
  maxConcurrentRuns: 64,
  preserveSteps: true,
  jobs: { carry },
})
await durably.init()

servePeer({
  runOne: (n) => durably.jobs.carry.triggerAndWait({ n }, { timeout: 60_000 }),
  close: () => durably.stop(),
})
