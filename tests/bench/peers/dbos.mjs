// DBOS on PostgreSQL, with PostgreSQL's own defaults: every commit is synced.
import { basename } from 'node:path'
import { DBOS } from '@dbos-inc/dbos-sdk'
import { leaveTrace, servePeer } from './serve-peer.mjs'

const carry = DBOS.registerWorkflow(
  async (/** @type {number} */ n) => {
    const prepared = await DBOS.runStep(async () => ({ n: leaveTrace('prepare', n) }), { name: 'prepare' })
    await DBOS.runStep(async () => leaveTrace('mutate', prepared.n), { name: 'mutate' })
    return DBOS.runStep(async () => ({ last: leaveTrace('next', prepared.n) }), { name: 'next' })
  },
  { name: 'carry' },
)
const nap = DBOS.registerWorkflow(
  async (/** @type {number} */ ms) => {
    const due = await DBOS.runStep(async () => Date.now() + ms, { name: 'due' })
    await DBOS.sleep(due - Date.now())
    return DBOS.runStep(async () => Date.now() - due, { name: 'started' })
  },
  { name: 'nap' },
)
// A database for each folder, so that none finds what another left behind.
const database = basename(process.env.PEER_DATA ?? 'carry')
  .replace(/\W/g, '_')
  .toLowerCase()
DBOS.setConfig({
  name: 'carry',
  systemDatabaseUrl: `${process.env.PEER_POSTGRES}/${database}`,
  runAdminServer: false,
  logLevel: 'error',
})
await DBOS.launch()
const QUEUE = 'eight'
await DBOS.registerQueue(QUEUE, { workerConcurrency: 8, minPollingIntervalMs: 10 })

servePeer({
  runOne: (n) => carry(n),
  accept: (ns, onAccepted) =>
    Promise.all(
      ns.map(async (n) => {
        await DBOS.startWorkflow(carry, { queueName: QUEUE })(n)
        onAccepted(n)
      }),
    ),
  nap,
  close: () => DBOS.shutdown(),
})
