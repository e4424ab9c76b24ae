import type { Listed } from '../../views-api.ts'

const USUAL = 50
const MOST = 500

/** One more than is shown is read: whether there are more is then known without counting. */
export const pageLimit = (limit: number | undefined): number => Math.min(Math.max(Math.trunc(limit ?? USUAL), 1), MOST)

export const toPage = <T>(rows: T[], limit: number): Listed<T> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit,
})

/** `%` and `_` of the user are letters, not wildcards. */
export const contains = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
