import type { ThroughputBucket } from '../../views-api.ts'
import { BOUND } from '../bound.ts'
import type { Database } from '../database.ts'
import { integer } from '../row.ts'
import { firstIdAt } from './run-views.ts'

const COUNT_OPEN_RUNS = 'SELECT count(*) AS n FROM script_runs WHERE end_timestamp IS NULL'
/** Attempts that ended, by when they began. Ids begin with the time, so only the window is walked. Times are bound as reals. */
const SELECT_BUCKETS = `
  SELECT CAST((start_timestamp - ${BOUND}) / ${BOUND} AS INTEGER) AS bucket, sum(status = 'committed') AS committed,
    sum(status NOT IN ('committed', 'active', 'cancelled')) AS failed
  FROM handler_runs WHERE id >= ${BOUND} AND start_timestamp >= ${BOUND}
  GROUP BY bucket`

export const countOpenRuns = (database: Database): number => {
  const row = database.get(COUNT_OPEN_RUNS)
  return row ? integer(row, 'n') : 0
}

export function throughput(database: Database, since: number, bucketMs: number, count: number): ThroughputBucket[] {
  const buckets = Array.from({ length: count }, (_, i) => ({ at: since + i * bucketMs, committed: 0, failed: 0 }))
  for (const row of database.all(SELECT_BUCKETS, [since, bucketMs, firstIdAt('hr', since), since])) {
    const bucket = buckets[integer(row, 'bucket')]
    if (bucket) Object.assign(bucket, { committed: integer(row, 'committed'), failed: integer(row, 'failed') })
  }
  return buckets
}
