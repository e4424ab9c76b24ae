// DBOS on PostgreSQL, with PostgreSQL's own defaults: every commit is synced.
import { DBOS } from '@dbos-inc/dbos-sdk'
import { noteDone, servePeer } from './serve-peer.mjs'

const carry = DBOS.registerWorkflow(
  async (/** @type {number} */ n) => {
    const prepared = await DBOS.runStep(async () => ({ n }), { name: 'prepare' })
    await DBOS.runStep(async () => noteDone('mutate', prepared.n), { name: 'mutate' })
    return DBOS.runStep(async () => ({ last: prepared.n }), { name: 'next' })
  },
  { name: 'carry' },
)
DBOS.setConfig({
  name: 'carry',
  systemDatabaseUrl: process.env.PEER_POSTGRES,
  runAdminServer: false,
  logLevel: 'error',
})
await DBOS.launch()

servePeer({ runOne: (n) => carry(n), close: () => DBOS.shutdown() })
