import initial from './0001-initial.sql?raw'
import sessions from './0002-sessions.sql?raw'
import dailyLimits from './0003-daily-limits.sql?raw'
import archives from './0004-archives.sql?raw'
import settledEvents from './0005-settled-events.sql?raw'
import workflowPolicies from './0006-workflow-policies.sql?raw'

export interface Migration {
  version: number
  sql: string
}

/** Append only: what has once been applied in somebody's browser is never edited. Versions count up from 1 without a gap. */
export const migrations: readonly Migration[] = [
  { version: 1, sql: initial },
  { version: 2, sql: sessions },
  { version: 3, sql: dailyLimits },
  { version: 4, sql: archives },
  { version: 5, sql: settledEvents },
  { version: 6, sql: workflowPolicies },
]
