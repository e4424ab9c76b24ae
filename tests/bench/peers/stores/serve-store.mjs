/* global addEventListener, postMessage */
/**
 * Makes a store answer the page. Times are taken here, in the worker, so that the way to the page is not in them.
 * @param {{
 *   load(): Promise<unknown>,
 *   open(name: string, durability: string): Promise<void>,
 *   fill(megabytes: number): Promise<void>,
 *   commit(n: number): Promise<unknown> | unknown,
 *   first(): Promise<unknown> | unknown,
 *   close(): Promise<void>,
 * }} store
 */
export function serveStore(store) {
  /** @param {() => unknown} work */
  const timed = async (work) => {
    const startedAt = performance.now()
    await work()
    return performance.now() - startedAt
  }
  const methods = {
    ...store,
    timeCommit: (/** @type {number} */ n) => timed(() => store.commit(n)),
    timeOpen: (/** @type {string} */ name, /** @type {string} */ durability) =>
      timed(async () => {
        await store.open(name, durability)
        await store.first()
      }),
  }
  // Beside others: absurd-sql talks to its helper through the same channel.
  addEventListener('message', async ({ data }) => {
    if (data?.store !== true) return
    const { id, method, args } = data
    try {
      const value = await methods[method](...args)
      postMessage({ id, value: typeof value === 'number' ? value : null })
    } catch (cause) {
      postMessage({ id, error: String(cause?.stack ?? cause) })
    }
  })
}

/** The same work for everybody that speaks SQLite. */
export const TABLES = [
  'CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, status TEXT, note TEXT)',
  'CREATE INDEX IF NOT EXISTS runs_status ON runs (status)',
  'CREATE TABLE IF NOT EXISTS bulk (b BLOB)',
]
export const BULK = 'INSERT INTO bulk VALUES (randomblob(1040000))'
export const FIRST = 'SELECT count(*) FROM runs'
const NOTE = 'x'.repeat(160)

/** @param {number} n */
export const small = (n) => [
  'BEGIN',
  `INSERT INTO runs (status, note) VALUES ('active${n % 7}', '${NOTE}')`,
  `UPDATE runs SET status = 'committed' WHERE id = ${n - 3}`,
  'COMMIT',
]
