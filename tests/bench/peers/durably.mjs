// durably on libSQL, as its documentation recommends for Node. How many runs go side by side is a setting of the instance: one for each.
import { createClient } from '@libsql/client'
import { LibsqlDialect } from '@libsql/kysely-libsql'
import { defineCarry, openDurably } from './durably-carry.mjs'
import { leaveTrace, servePeer } from './serve-peer.mjs'

const carry = defineCarry(leaveTrace)

/** @param {string} file @param {number} maxConcurrentRuns */
const open = async (file, maxConcurrentRuns) => {
  const client = createClient({ url: `file:${process.env.PEER_DATA}/${file}` })
  // Its own default is a rollback journal, which syncs several times for each commit; this syncs once.
  await client.execute('PRAGMA journal_mode = WAL')
  return openDurably({ dialect: new LibsqlDialect({ client }), carry, maxConcurrentRuns })
}

const alone = await open('one.db', 1)
// Its writes take turns whatever this says; more than a few only wait for each other.
const together = await open('many.db', 8)

/** @param {string} order */
const instanceFor = (order) => (order === 'many' || order === 'accept' ? together : alone)

servePeer({
  rouse: (order) => instanceFor(order).start(),
  rest: async () => {
    await alone.stop()
    await together.stop()
  },
  runOne: (n) => alone.runAll([n]),
  runAllOneByOne: (ns) => alone.runAll(ns),
  runMany: (ns) => together.runAll(ns),
  accept: async (ns, onAccepted) => {
    await together.accept(ns)
    for (const n of ns) onAccepted(n)
  },
})
