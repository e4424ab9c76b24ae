import { spawnSync } from 'node:child_process'
import { run } from './run.mjs'

export const isRoot = process.getuid?.() === 0

/** @param {string} program */
export const isHere = (program) => spawnSync(program, ['--version']).status === 0

/** From Debian's packages, where this is Debian and we may. @param {string} name */
export const installPackage = async (name) => {
  if (!isRoot) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-q'], { env, stdio: 'ignore', timeoutMs: 120_000 })
  await run('apt-get', ['install', '-y', '-q', name], { env, stdio: 'ignore', timeoutMs: 300_000 })
}
