import { openSync, writeSync } from 'node:fs'

/**
 * The peer's side of the conversation with the measuring side (child-peer.ts): each order is one measurement.
 *
 * `rouse` and `rest` are for peers that keep asking for work: they must not do so while another one is measured. `accept` hands
 * all events over at once, to be carried eight at a time, and tells which of them the engine has answered for; it does not wait
 * for their end. `nap` asks for a run that
 * sleeps, and resolves to the milliseconds between the time it was due and its next step.
 * @typedef {{
 *   runOne: (n: number) => Promise<unknown>
 *   runAllOneByOne?: (ns: number[]) => Promise<unknown>
 *   runMany?: (ns: number[]) => Promise<unknown>
 *   accept: (ns: number[], onAccepted: (n: number) => void) => Promise<unknown>
 *   nap?: (ms: number) => Promise<number>
 *   naps?: (count: number) => Promise<number[]>
 *   rouse?: (order: string) => unknown
 *   rest?: () => unknown
 *   close?: () => unknown
 * }} Peer
 */

/** Where every step leaves a line, outside of the engine: what is done twice is there twice. */
const traces = process.env.PEER_TRACES === undefined ? null : openSync(process.env.PEER_TRACES, 'a')

/** Killed in the middle, and started again on what was left behind. */
export const isResumed = process.env.PEER_RESUME === '1'

/** Without a file to write to, a step that does nothing. @param {string} step @param {number} n */
export const leaveTrace = (step, n) => {
  if (traces !== null) writeSync(traces, `${Date.now()} ${step} ${n}\n`)
  return n
}

const after = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {Peer} peer */
const ordersOf = (peer) => {
  let next = Date.now() % 1_000_000_000
  /** @param {number} count */
  const fresh = (count) => Array.from({ length: count }, () => (next += 1))
  return {
    /** @param {number} count */
    async one(count) {
      const ns = fresh(count)
      const start = performance.now()
      if (peer.runAllOneByOne) await peer.runAllOneByOne(ns)
      else for (const n of ns) await peer.runOne(n)
      return performance.now() - start
    },
    /** @param {number} count */
    async many(count) {
      const ns = fresh(count)
      const start = performance.now()
      await (peer.runMany ? peer.runMany(ns) : Promise.all(ns.map((n) => peer.runOne(n))))
      return performance.now() - start
    },
    /** @param {number} count */
    async latency(count) {
      const times = []
      for (const n of fresh(count)) {
        const start = performance.now()
        await peer.runOne(n)
        times.push(performance.now() - start)
        await after(5)
      }
      return times
    },
    /** Spread, so that they do not wait for each other. @param {number} count */
    async wake(count) {
      if (peer.naps) return peer.naps(count)
      const { nap } = peer
      if (!nap) return null
      const late = []
      for (let n = 0; n < count; n += 1) {
        late.push(nap(400 + ((n * 37) % 100)))
        await after(120)
      }
      return Promise.all(late)
    },
    /** @param {number} count */
    async accept(count) {
      await peer.accept(fresh(count), (n) => leaveTrace('accepted', n))
      return null
    },
  }
}

/** @param {Peer} peer */
export function servePeer(peer) {
  const orders = ordersOf(peer)
  /** @param {keyof orders} order @param {number} count */
  const carryOut = async (order, count) => {
    await peer.rouse?.(order)
    try {
      return await orders[order](count)
    } finally {
      // Accepted is not done: whoever accepts has to go on working.
      if (order !== 'accept') await peer.rest?.()
    }
  }
  process.on('message', (/** @type {{ order: keyof orders, count: number }} */ { order, count }) => {
    carryOut(order, count).then(
      (measured) => process.send?.({ measured }),
      (/** @type {unknown} */ error) => process.send?.({ failed: String(error) }),
    )
  })
  process.on('disconnect', () => {
    void Promise.resolve(peer.close?.()).finally(() => process.exit(0))
  })
  if (isResumed) void peer.rouse?.('accept')
  process.send?.({ ready: true })
}
