// Vercel Workflow with its local world: a folder with a file for every event, which it writes and renames, and never syncs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { servePeer } from './serve-peer.mjs'

const source = resolve('vercel-workflows')
const built = join(source, '.well-known')
const mark = join(built, 'package.json')

/** @param {string} file */
const timeOf = (file) =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

const build = async () => {
  const compiler = spawn(process.execPath, [resolve('node_modules/workflow/bin/run.js'), 'build'], {
    cwd: source,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(compiler, 'exit')
  if (code !== 0) throw new Error(`workflow build ended with ${code}.`)
  // Its bundles are CommonJS, and in our folder everything is a module unless it is said otherwise. Written last: it is whole.
  await writeFile(mark, '{ "type": "commonjs" }')
}

// Takes seconds: once for each copy of the source, not for every start.
if ((await timeOf(mark)) < (await timeOf(join(source, 'carry.mjs')))) await build()

if (process.env.PEER_TRACES !== undefined) {
  process.env.WORKFLOW_LOCAL_QUEUE_CONCURRENCY = '8'
  // It warns of every message that waits for one of these places.
  const { warn } = console
  console.warn = (...said) => {
    if (!String(said[0]).includes('concurrency limit')) warn(...said)
  }
}
// It looks at its environment while it is loaded.
const { createLocalWorld } = await import('@workflow/world-local')
const { setWorld } = await import('workflow/runtime')
const { start } = await import('workflow/api')

const world = createLocalWorld({ dataDir: `${process.env.PEER_DATA}/workflow` })

/** @type {Map<string, { told: Promise<string>, tell: (how: string) => void }>} */
const ends = new Map()

/** A run can be over before whoever started it knows its name. @param {string} runId */
const endOf = (runId) => {
  const known = ends.get(runId)
  if (known) return known
  let tell = (/** @type {string} */ _how) => undefined
  const told = new Promise((resolved) => (tell = resolved))
  const end = { told, tell }
  ends.set(runId, end)
  return end
}

// Whoever waits for a run asks its world once a second: better told by the world itself.
const { create } = world.events
world.events.create = async (runId, event, params) => {
  const created = await create(runId, event, params)
  if (['run_completed', 'run_failed'].includes(event.eventType)) endOf(runId).tell(event.eventType)
  return created
}
setWorld(world)

/** @param {string} name */
const handlerOf = async (name) => {
  const bundle = await import(pathToFileURL(join(built, `workflow/v1/${name}.js`)).href)
  return bundle.default.POST
}
// In this process, as its own test runner has it: over HTTP every message costs more.
world.registerHandler('__wkf_workflow_', await handlerOf('flow'))
world.registerHandler('__wkf_step_', await handlerOf('step'))
// It looks for the port of its server before every step until it finds one.
createServer().listen(0, '127.0.0.1')
// From here on it works, also on what was left behind.
await world.start()

/** @param {string} name @param {number} input */
const begin = (name, input) => start({ workflowId: `workflow//./carry//${name}` }, [input])

/** @param {string} name @param {number} input */
const run = async (name, input) => {
  const started = await begin(name, input)
  const how = await endOf(started.runId).told
  ends.delete(started.runId)
  if (how !== 'run_completed') throw new Error(`${name} ${input} ended with ${how}.`)
  return started
}

servePeer({
  runOne: (n) => run('carry', n),
  accept: (ns, onAccepted) =>
    Promise.all(
      ns.map(async (n) => {
        // Comes back when the run is in its file.
        await begin('carry', n)
        onAccepted(n)
      }),
    ),
  nap: async (ms) => (await run('nap', ms)).returnValue,
  close: () => world.close(),
})
