/** Places where a tab can die with a different consequence. Tests and the crash lab kill the engine at each of them. */
export const crashPoints = [
  'run_opened',
  'attempt_started',
  'before_script',
  'after_script',
  'mutation_in_flight',
  'mutation_durable',
  'mutation_called',
  'mutation_reconciled',
  'mutation_settled',
  'attempt_committed',
  'attempt_failed',
  'run_finished',
  'escalation_resolved',
  'retry_started',
  'recovery_begun',
  'recovery_marked',
  'recovery_done',
  'archive_written',
  'archive_rows_deleted',
  'archive_rows_restored',
] as const
export type CrashPoint = (typeof crashPoints)[number]

export interface CrashPoints {
  /** Does nothing in real life. */
  reach(point: CrashPoint): void
}
