/** What was read anew: everything older than `before` down to the last row, or down to the end when there is no more. */
export interface Stretch<T> {
  before: string | undefined
  rows: readonly T[]
  hasMore: boolean
}

/** Rows are ordered by id, newest first. Rows of the stretch that are not in it any more are gone. */
export function replaceStretch<T extends { id: string }>(known: readonly T[], stretch: Stretch<T>): T[] {
  const { before, rows, hasMore } = stretch
  const oldest = rows.at(-1)?.id
  const newer = before === undefined ? [] : known.filter(({ id }) => id >= before)
  const older = hasMore && oldest !== undefined ? known.filter(({ id }) => id < oldest) : []
  // More new rows than one page: what lies between the page and the old rows is not known, and a hole must not look like a list.
  const isTorn =
    before === undefined && hasMore && known[0] !== undefined && oldest !== undefined && oldest > known[0].id
  return [...newer, ...rows, ...(isTorn ? [] : older)]
}
