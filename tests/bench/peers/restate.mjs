// Restate: its server beside us keeps the journal, our handler is served to it over HTTP/2.
import { spawn } from 'node:child_process'
import * as restate from '@restatedev/restate-sdk'
import { isResumed, leaveTrace, servePeer } from './serve-peer.mjs'

const INGRESS = 'http://127.0.0.1:18080'
const ADMIN = 'http://127.0.0.1:19070'
// The program itself: the wrapper that npm puts in front of it would outlive us.
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

/** @param {restate.Context} ctx @param {number} n */
const run = async (ctx, n) => {
  const prepared = await ctx.run('prepare', async () => ({ n: leaveTrace('prepare', n) }))
  await ctx.run('mutate', async () => leaveTrace('mutate', prepared.n))
  return ctx.run('next', async () => ({ last: leaveTrace('next', prepared.n) }))
}
const carry = restate.service({
  name: 'carry',
  handlers: {
    run,
    nap: async (/** @type {restate.Context} */ ctx, /** @type {number} */ ms) => {
      const due = await ctx.run('due', async () => Date.now() + ms)
      await ctx.sleep(Math.max(1, due - Date.now()))
      return ctx.run('started', async () => Date.now() - due)
    },
  },
})
// One at a time for each key.
const lane = restate.object({ name: 'lane', handlers: { run } })
await restate.serve({ services: [carry, lane], port: 19080 })

/** @param {() => Promise<Response>} ask */
const insist = async (ask) => {
  for (let turn = 0; turn < 1200; turn += 1) {
    const answer = await ask().catch(() => null)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('Restate does not answer.')
}
/** @param {string} address @param {unknown} body */
const post = (address, body) =>
  fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
// It remembers its handlers across a restart, and goes on by itself.
if (!isResumed) await insist(() => post(`${ADMIN}/deployments`, { uri: 'http://127.0.0.1:19080' }))

/** @param {string} path @param {number} n */
const call = async (path, n) => {
  const answer = await post(`${INGRESS}/${path}`, n)
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

servePeer({
  runOne: (n) => call('carry/run', n),
  accept: (ns, onAccepted) =>
    Promise.all(
      ns.map(async (n) => {
        await call(`lane/${n % 8}/run/send`, n)
        onAccepted(n)
      }),
    ),
  nap: (ms) => call('carry/nap', ms),
  close: () => server.kill('SIGKILL'),
})
