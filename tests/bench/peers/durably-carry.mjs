// The same job in Node and in the browser.
import { createDurably, defineJob } from '@coji/durably'
import { z } from 'zod'

/** @param {(step: string, n: number) => number | Promise<number>} leaveTrace */
export const defineCarry = (leaveTrace) =>
  defineJob({
    name: 'carry',
    input: z.object({ n: z.number() }),
    output: z.object({ last: z.number() }),
    run: async (step, { n }) => {
      const prepared = await step.run('prepare', async () => ({ n: await leaveTrace('prepare', n) }))
      await step.run('mutate', async () => leaveTrace('mutate', prepared.n))
      return step.run('next', async () => ({ last: await leaveTrace('next', prepared.n) }))
    },
  })

/**
 * @param {{ dialect: unknown, carry: ReturnType<typeof defineCarry>, maxConcurrentRuns: number }} options
 */
export const openDurably = async ({ dialect, carry, maxConcurrentRuns }) => {
  const durably = createDurably({
    dialect,
    pollingIntervalMs: 1,
    maxConcurrentRuns,
    preserveSteps: true,
    // As its documentation has it for the browser: what a dead process held is free again after three seconds.
    leaseMs: 3000,
    leaseRenewIntervalMs: 500,
    jobs: { carry },
  })
  await durably.migrate()
  /** Told by its events, not by asking again and again. @param {number[]} ns */
  const runAll = (ns) =>
    new Promise((resolve, reject) => {
      let left = ns.length
      const stop = durably.on('run:complete', () => {
        left -= 1
        if (left > 0) return
        stop()
        resolve(undefined)
      })
      durably.jobs.carry.batchTrigger(ns.map((n) => ({ input: { n } }))).catch(reject)
    })
  return {
    start: () => durably.start(),
    stop: () => durably.stop(),
    runAll,
    /** @param {number[]} ns */
    accept: (ns) => durably.jobs.carry.batchTrigger(ns.map((n) => ({ input: { n } }))),
  }
}
