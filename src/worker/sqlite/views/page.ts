import type { Listed } from '../../views-api.ts'

const USUAL = 50
const MOST = 500

/**
 * How many rows one search looks at before it answers with what it has found so far. All of SQLite is one thread, the engine's: a
 * million rows at once would keep every workflow waiting for seconds.
 */
export const SLICE = 4_000

/** One more than is shown is read: whether there are more is then known without counting. */
export const pageLimit = (limit: number | undefined): number => Math.min(Math.max(Math.trunc(limit ?? USUAL), 1), MOST)

export const toPage = <T>(rows: T[], limit: number): Listed<T> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit,
})

/** `until` is the smallest id that was looked at, when there are smaller ones that were not. */
export const toSlice = <T>(rows: T[], limit: number, until: string | undefined): Listed<T> =>
  until === undefined || rows.length > limit ? toPage(rows, limit) : { rows, hasMore: true, lookedTo: until }

/** `%` and `_` of the user are letters, not wildcards. */
export const contains = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
