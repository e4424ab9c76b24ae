// graphile-worker on PostgreSQL, with PostgreSQL's own defaults. Each step is a job of its own, which adds the job of the next one.
import { basename } from 'node:path'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { isResumed, leaveTrace, servePeer } from './serve-peer.mjs'

const STEPS = ['prepare', 'mutate', 'next']
// A database for each folder, so that none finds what another left behind.
const database = basename(process.env.PEER_DATA ?? 'carry')
  .replace(/\W/g, '_')
  .toLowerCase()
const connectionString = `${process.env.PEER_POSTGRES}/${database}`
const logger = new Logger(() => () => undefined)

/** @param {string} address @param {string} sql */
const query = async (address, sql) => {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

if (!isResumed) await query(`${process.env.PEER_POSTGRES}/postgres`, `CREATE DATABASE "${database}"`)
const utils = await makeWorkerUtils({ connectionString, logger })
await utils.migrate()
if (isResumed) {
  // It would wait for four hours: a worker that is gone for certain has its jobs taken away by hand, as its documentation has it.
  const locked = await query(
    connectionString,
    'SELECT DISTINCT locked_by FROM graphile_worker.jobs WHERE locked_by IS NOT NULL',
  )
  await utils.forceUnlockWorkers(locked.map(({ locked_by: id }) => id))
}

/** @type {Map<number, (value: unknown) => void>} */
const waiting = new Map()

/** A job is done when it is gone from its table, not when its function has come back. @param {any} payload */
const heedEnd = ({ n, step, due }) => {
  if (due === undefined && step === STEPS.length - 1) waiting.get(n)?.(null)
}

/** @param {string} task @param {number} concurrency */
const open = async (task, concurrency) => {
  /** @param {any} payload @param {import('graphile-worker').JobHelpers} helpers */
  const work = async ({ n, step, due }, helpers) => {
    if (due !== undefined) {
      waiting.get(n)?.(Date.now() - due)
      return
    }
    leaveTrace(STEPS[step] ?? '', n)
    const next = step + 1
    // By its key it is there once, also where this step is made again.
    if (next < STEPS.length) await helpers.addJob(task, { n, step: next }, { jobKey: `${n} ${next}` })
  }
  const runner = await run({
    connectionString,
    concurrency,
    maxPoolSize: concurrency + 2,
    noHandleSignals: true,
    logger,
    taskList: { [task]: work },
  })
  runner.events.on('job:complete', ({ job }) => heedEnd(job.payload))
  /** @param {{ n: number, due?: number }[]} jobs @param {() => void} [onAdded] */
  return async (jobs, onAdded) => {
    const ended = jobs.map(({ n }) => new Promise((resolve) => waiting.set(n, resolve)))
    await utils.addJobs(
      jobs.map(({ n, due }) => ({
        identifier: task,
        payload: { n, step: 0, ...(due === undefined ? {} : { due }) },
        ...(due === undefined ? {} : { runAt: new Date(due) }),
      })),
    )
    onAdded?.()
    const values = await Promise.all(ended)
    for (const { n } of jobs) waiting.delete(n)
    return values
  }
}

const runAlone = await open('alone', 1)
const runTogether = await open('together', 64)
const runEight = await open('eight', 8)
/** @param {number[]} ns */
const jobsOf = (ns) => ns.map((n) => ({ n }))
let naps = 0

servePeer({
  runOne: (n) => runAlone(jobsOf([n])),
  runAllOneByOne: (ns) => runAlone(jobsOf(ns)),
  runMany: (ns) => runTogether(jobsOf(ns)),
  accept: (ns, onAccepted) => runEight(jobsOf(ns), () => ns.forEach(onAccepted)),
  nap: async (ms) => Number((await runTogether([{ n: (naps -= 1), due: Date.now() + ms }]))[0]),
})
