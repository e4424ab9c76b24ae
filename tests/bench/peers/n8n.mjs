// n8n on SQLite: a server beside us, asked through its webhooks.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { TRACES_PORT, workflows } from './n8n-workflows.mjs'
import { isResumed, leaveTrace, servePeer } from './serve-peer.mjs'

const ADDRESS = 'http://127.0.0.1:19082'
const isTraced = process.env.PEER_TRACES !== undefined

/** @param {string} folder @param {string[]} args */
const start = (folder, args) =>
  spawn(process.execPath, ['node_modules/n8n/bin/n8n', ...args], {
    stdio: 'ignore',
    env: {
      ...process.env,
      N8N_USER_FOLDER: folder,
      N8N_PORT: '19082',
      N8N_LISTEN_ADDRESS: '127.0.0.1',
      N8N_RUNNERS_BROKER_PORT: '19084',
      DB_TYPE: 'sqlite',
      EXECUTIONS_DATA_SAVE_ON_PROGRESS: 'true',
      // Its default makes an isolate for every execution, and with that is many times slower.
      N8N_EXPRESSION_ENGINE: 'legacy',
      ...(isTraced ? { N8N_CONCURRENCY_PRODUCTION_LIMIT: '8' } : {}),
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_TEMPLATES_ENABLED: 'false',
      N8N_PERSONALIZATION_ENABLED: 'false',
      N8N_HIRING_BANNER_ENABLED: 'false',
      N8N_LOG_LEVEL: 'error',
    },
  })

/** @param {string} folder @param {string[]} args */
const command = async (folder, args) => {
  const [code] = await once(start(folder, args), 'exit')
  if (code !== 0) throw new Error(`n8n ${args.join(' ')} ended with ${code}.`)
}

const data = resolve(process.env.PEER_DATA ?? '.', 'n8n')
// Made once, and copied for every start: each command takes as long as a start.
const prepared = resolve('prepared')
const wanted = JSON.stringify(workflows)

const isPrepared = async () => (await readFile(join(prepared, 'workflows.json'), 'utf8').catch(() => '')) === wanted

const prepare = async () => {
  const draft = resolve('prepared.draft')
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft)
  const file = join(draft, 'workflows.json')
  await writeFile(file, wanted)
  await command(draft, ['import:workflow', `--input=${file}`])
  for (const { id } of workflows) await command(draft, ['publish:workflow', `--id=${id}`])
  await rm(prepared, { recursive: true, force: true })
  await rename(draft, prepared)
}

if (!(await isPrepared())) await prepare()
if (!isResumed) await cp(prepared, data, { recursive: true })

if (isTraced) {
  createServer((request, response) => {
    const [, step = '', n = ''] = (request.url ?? '').split('/')
    leaveTrace(step, Number(n))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(TRACES_PORT, '127.0.0.1')
}

const server = start(data, ['start'])
process.on('exit', () => server.kill('SIGKILL'))

/** @param {string} path */
const call = async (path) => {
  const answer = await fetch(`${ADDRESS}/webhook/${path}`)
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

const insist = async () => {
  for (;;) {
    const answer = await call('carry?n=0').catch(() => null)
    if (answer !== null) return
    if (server.exitCode !== null) throw new Error('n8n ended before it could be reached.')
    await new Promise((resolved) => setTimeout(resolved, 100))
  }
}
await insist()

servePeer({
  runOne: (n) => call(`carry?n=${n}`),
  accept: (ns, onAccepted) =>
    Promise.all(
      ns.map(async (n) => {
        await call(`traced?n=${n}`)
        onAccepted(n)
      }),
    ),
  nap: async (ms) => Number((await call(`nap?ms=${ms}`)).late),
  close: () => server.kill('SIGKILL'),
})
