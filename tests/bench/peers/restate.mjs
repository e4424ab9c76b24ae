// Restate: its server beside us keeps the journal, our handler is served to it over HTTP/2.
import { spawn } from 'node:child_process'
// The program itself: the wrapper that npm puts in front of it would outlive us.
import * as restate from '@restatedev/restate-sdk'
import { noteDone, servePeer } from './serve-peer.mjs'

const INGRESS = 'http://127.0.0.1:18080'
const ADMIN = 'http://127.0.0.1:19070'
const server = spawn('node_modules/@restatedev/restate-server-linux-x64/bin/restate-server', ['--no-logo'], {
  stdio: 'ignore',
  env: {
    ...process.env,
    RESTATE_BASE_DIR: `${process.env.PEER_DATA}/restate`,
    RESTATE_NODE_NAME: 'bench',
    RESTATE_BIND_ADDRESS: '127.0.0.1:15122',
    RESTATE_ADVERTISED_ADDRESS: 'http://127.0.0.1:15122',
    RESTATE_INGRESS__BIND_ADDRESS: '127.0.0.1:18080',
    RESTATE_ADMIN__BIND_ADDRESS: '127.0.0.1:19070',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_DISABLE_TELEMETRY: 'true',
    DO_NOT_TRACK: '1',
  },
})
process.on('exit', () => server.kill('SIGKILL'))

const carry = restate.service({
  name: 'carry',
  handlers: {
    run: async (/** @type {restate.Context} */ ctx, /** @type {number} */ n) => {
      const prepared = await ctx.run('prepare', async () => ({ n }))
      await ctx.run('mutate', async () => noteDone('mutate', prepared.n))
      return ctx.run('next', async () => ({ last: prepared.n }))
    },
  },
})
await restate.serve({ services: [carry], port: 19080 })

/** @param {() => Promise<Response>} ask */
const insist = async (ask) => {
  for (let turn = 0; turn < 600; turn += 1) {
    const answer = await ask().catch(() => null)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('Restate does not answer.')
}
await insist(() =>
  fetch(`${ADMIN}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: 'http://127.0.0.1:19080', force: true }),
  }),
)

/** @param {number} n */
const runOne = async (n) => {
  const answer = await fetch(`${INGRESS}/carry/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(n),
  })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.json()
}

servePeer({
  runOne,
  close: async () => {
    server.kill('SIGKILL')
  },
})
