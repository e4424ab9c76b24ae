// durably on libSQL, as its README recommends for Node. How many runs go side by side is a setting of the instance: one for each.
import { createDurably, defineJob } from '@coji/durably'
import { createClient } from '@libsql/client'
import { LibsqlDialect } from '@libsql/kysely-libsql'
import { z } from 'zod'
import { noteDone, servePeer } from './serve-peer.mjs'

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

/** @param {string} file @param {number} maxConcurrentRuns */
const open = async (file, maxConcurrentRuns) => {
  const client = createClient({ url: `file:${process.env.PEER_DATA}/${file}` })
  const durably = createDurably({
    dialect: new LibsqlDialect({ client }),
    pollingIntervalMs: 5,
    maxConcurrentRuns,
    preserveSteps: true,
    jobs: { carry },
  })
  await durably.migrate()
  /** Told by its events, not by asking again and again. @param {number[]} ns */
  const runAll = async (ns) => {
    let left = ns.length
    // Only the instance that is measured looks for work.
    durably.start()
    await new Promise((resolve, reject) => {
      const stop = durably.on('run:complete', () => {
        left -= 1
        if (left > 0) return
        stop()
        resolve(undefined)
      })
      durably.jobs.carry.batchTrigger(ns.map((n) => ({ input: { n } }))).catch(reject)
    })
    await durably.stop()
  }
  return { durably, runAll }
}

const alone = await open('one.db', 1)
const together = await open('many.db', 64)

servePeer({
  runOne: (n) => alone.runAll([n]),
  runAllOneByOne: (ns) => alone.runAll(ns),
  runMany: (ns) => together.runAll(ns),
  close: async () => {
    await alone.durably.stop()
    await together.durably.stop()
  },
})
