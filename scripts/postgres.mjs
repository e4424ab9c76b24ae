import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPackage, isHere, isRoot } from './debian.mjs'

const PORT = '15432'
const DEBIAN_FOLDER = '/usr/lib/postgresql'

/** Debian keeps the server's programs off the PATH, in a folder for each version. @param {string} program */
const pathOf = (program) => {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).toSorted((a, b) => Number(b) - Number(a)) : []
  const candidates = versions.map((version) => join(DEBIAN_FOLDER, version, 'bin', program))
  return candidates.find((path) => existsSync(path)) ?? program
}

/** PostgreSQL will not run as root. @param {string} program @param {string[]} args */
const asPostgres = (program, args) => {
  const path = pathOf(program)
  const [command, all] = isRoot ? ['runuser', ['-u', 'postgres', '--', path, ...args]] : [path, args]
  return (
    spawnSync(command, all, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'ignore'], cwd: tmpdir() }).status === 0
  )
}

/**
 * A PostgreSQL of our own in a temporary folder, with its own defaults.
 * @returns {Promise<{ url: string, version: string, stop: () => Promise<void> } | null>} null where it cannot be had
 */
export async function startPostgres() {
  if (!isHere(pathOf('initdb'))) await installPackage('postgresql')
  if (!isHere(pathOf('initdb'))) return null
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'))
  chmodSync(folder, 0o700)
  if (isRoot) chownSync(folder, Number(execFileSync('id', ['-u', 'postgres'])), -1)
  const data = join(folder, 'data')
  const stop = async () => {
    asPostgres('pg_ctl', ['-D', data, '-m', 'immediate', 'stop'])
    await rm(folder, { recursive: true, force: true })
  }
  const options = `-p ${PORT} -k ${folder} -c listen_addresses=127.0.0.1`
  const isStarted =
    asPostgres('initdb', ['-D', data, '-U', 'bench', '--auth=trust']) &&
    asPostgres('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start'])
  if (!isStarted) {
    await stop()
    return null
  }
  const version = execFileSync(pathOf('postgres'), ['--version'], { encoding: 'utf8' }).trim()
  return { url: `postgresql://bench@127.0.0.1:${PORT}`, version, stop }
}
