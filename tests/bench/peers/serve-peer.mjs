/**
 * The peer's side of the conversation with scripts/bench-peers.mjs: each order is one measurement, each answer is milliseconds.
 * @typedef {{ runOne: (n: number) => Promise<unknown>, runAllOneByOne?: (ns: number[]) => Promise<unknown>, runMany?: (ns: number[]) => Promise<unknown>, close?: () => Promise<void> }} Peer
 */

/** Counted outside of the engine: what was done twice is seen twice. */
const timesDone = new Map()

/** @param {string} step @param {number} n */
export const noteDone = (step, n) => {
  const key = `${step} ${n}`
  timesDone.set(key, (timesDone.get(key) ?? 0) + 1)
  return n
}

/** @param {Peer} peer */
export function servePeer(peer) {
  let next = Date.now() % 1_000_000_000
  /** @param {number} count */
  const fresh = (count) => Array.from({ length: count }, () => (next += 1))
  const orders = {
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
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return times
    },
  }
  process.on('message', (/** @type {{ order: keyof orders, count: number }} */ { order, count }) => {
    orders[order](count).then(
      (measured) => process.send?.({ measured }),
      (/** @type {unknown} */ error) => process.send?.({ failed: String(error) }),
    )
  })
  process.on('disconnect', () => {
    void Promise.resolve(peer.close?.()).finally(() => process.exit(0))
  })
  process.send?.({ ready: true })
}
