export const archiveKinds = ['session', 'run'] as const
export type ArchiveKind = (typeof archiveKinds)[number]

/** What retention took out of the tables, without the document itself. */
export interface Archive {
  id: string
  kind: ArchiveKind
  /** Of the session or the run. */
  subjectId: string
  /** The objective of the session, or the name of the run's workflow. */
  title: string
  finishedAt: number
  archivedAt: number
  /** False while its rows are being deleted, and while they are back. */
  isPutAway: boolean
  /** When it was brought back to be looked at; null while it is away. */
  restoredAt: number | null
  /** Of the document before it was compressed, and as it is kept. */
  jsonBytes: number
  bytes: number
}

export interface ArchiveQuery {
  kind?: ArchiveKind
  /** In the title or the id of what was archived. */
  text?: string
  /** Id of the last one that is known. */
  before?: string
  limit?: number
}
