export const defaultRetentionDays = 30
export const mostRetentionDays = 36_500

export const isRetentionDays = (days: unknown): days is number =>
  Number.isInteger(days) && (days as number) >= 0 && (days as number) <= mostRetentionDays

/** What one round of upkeep did. */
export interface UpkeepSummary {
  at: number
  sessions: number
  runs: number
  /** How much shorter the database file became. */
  freedBytes: number
}

export interface UpkeepProgress {
  step: 'archiving' | 'deleting' | 'restoring' | 'giving_space_back'
  done: number
  /** What is known of now: it may grow. */
  total: number
}

export interface RetentionStatus {
  /** Finished sessions and runs are kept this long; 0 keeps them for ever. */
  days: number
  /** What is old enough now. */
  due: { sessions: number; runs: number }
  archives: { count: number; bytes: number }
  /** Of the database file; `freeBytes` is what giving space back would give. */
  space: { fileBytes: number; freeBytes: number }
  /** What is going on right now. */
  progress: UpkeepProgress | null
  /** The last round that did something. */
  last: UpkeepSummary | null
  /** When it looks again by itself. */
  nextAt: number
  /** Why the last round stopped short, in words. */
  problem: string | null
}
