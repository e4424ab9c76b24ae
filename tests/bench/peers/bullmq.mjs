// BullMQ on Redis, with every write synced. A job is all three steps: it has no checkpoints between them.
import { basename } from 'node:path'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { leaveTrace, servePeer } from './serve-peer.mjs'

const connection = new Redis({
  host: '127.0.0.1',
  port: Number(process.env.PEER_REDIS_PORT),
  maxRetriesPerRequest: null,
})
const prefix = basename(process.env.PEER_DATA ?? 'carry')

/** @param {string} name @param {number} concurrency */
const open = async (name, concurrency) => {
  const queue = new Queue(name, { connection, prefix })
  const worker = new Worker(
    name,
    async ({ data: { n, due } }) => {
      if (due !== undefined) return Date.now() - due
      leaveTrace('prepare', n)
      leaveTrace('mutate', n)
      return { last: leaveTrace('next', n) }
    },
    { connection, prefix, concurrency },
  )
  await worker.waitUntilReady()
  /** @type {Map<string, (value: any) => void>} */
  const waiting = new Map()
  worker.on('completed', ({ id }, value) => waiting.get(String(id))?.(value))
  /** Told by its events, not by asking again and again. @param {{ n: number, due?: number }[]} jobs */
  const runAll = async (jobs) => {
    const ended = jobs.map(({ n }) => new Promise((resolve) => waiting.set(`job-${n}`, resolve)))
    await queue.addBulk(
      jobs.map((data) => ({
        name,
        data,
        opts: { jobId: `job-${data.n}`, delay: data.due === undefined ? 0 : Math.max(0, data.due - Date.now()) },
      })),
    )
    const values = await Promise.all(ended)
    for (const { n } of jobs) waiting.delete(`job-${n}`)
    return values
  }
  return { runAll }
}

const alone = await open('alone', 1)
const together = await open('together', 64)
/** @param {number[]} ns */
const jobsOf = (ns) => ns.map((n) => ({ n }))
let naps = 0

servePeer({
  runOne: (n) => alone.runAll(jobsOf([n])),
  runAllOneByOne: (ns) => alone.runAll(jobsOf(ns)),
  runMany: (ns) => together.runAll(jobsOf(ns)),
  accept: (ns) => together.runAll(jobsOf(ns)),
  nap: async (ms) => (await together.runAll([{ n: (naps -= 1), due: Date.now() + ms }]))[0],
})
