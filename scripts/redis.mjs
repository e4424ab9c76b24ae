import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPackage, isHere } from './debian.mjs'

const PORT = 16379
const PATIENCE_MS = 10_000

const answers = () =>
  new Promise((resolve) => {
    const socket = connect(PORT, '127.0.0.1', () => socket.end(() => resolve(true)))
    socket.on('error', () => resolve(false))
  })

/**
 * A Redis of our own in a temporary folder, with every write synced before it is answered.
 * @returns {Promise<{ port: number, version: string, stop: () => Promise<void> } | null>} null where it cannot be had
 */
export async function startRedis() {
  if (!isHere('redis-server')) await installPackage('redis-server')
  if (!isHere('redis-server')) return null
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-redis-'))
  const options = ['--port', `${PORT}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  const server = spawn('redis-server', [...options, '--appendonly', 'yes', '--appendfsync', 'always'], {
    stdio: 'ignore',
  })
  const stop = async () => {
    if (server.exitCode === null && server.kill('SIGKILL')) await once(server, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
  const until = Date.now() + PATIENCE_MS
  while (!(await answers())) {
    if (server.exitCode !== null || Date.now() > until) {
      await stop()
      return null
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const version = execFileSync('redis-server', ['--version'], { encoding: 'utf8' })
    .replace(/ sha=.*/s, '')
    .trim()
  return { port: PORT, version, stop }
}
