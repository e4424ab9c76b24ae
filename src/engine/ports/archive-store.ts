import type { Archive, ArchiveKind, ArchiveQuery } from '../model/archive.ts'

/** A row as it is in its table: whoever archives and restores need not know what it means. */
export type RawRow = Record<string, string | number | null>
/** Everything that belongs to a session or a run, by table, in the order in which it can be put back. */
export type Dossier = Record<string, RawRow[]>

/** Something finished that nobody can change or is waiting for any more. */
export interface ArchiveSubject {
  kind: ArchiveKind
  id: string
  title: string
  finishedAt: number
  /** Another one than before means that it has changed. */
  mark: string
}

/** How old is too old now. */
export interface KeptFor {
  now: number
  /** For everything but runs of a workflow that has a number of its own; 0 is for ever, in both. */
  days: number
}

export interface ArchiveReads {
  get(id: string): Archive | undefined
  ofSubject(subjectId: string): Archive | undefined
  /** Newest first. */
  list(query: ArchiveQuery & { limit: number }): Archive[]
  totals(): { count: number; bytes: number }
  document(id: string): Uint8Array | undefined
  /** Neither away nor back: a crash came between. */
  unfinished(): Archive[]
  /** Brought back so long ago that they may go away again. */
  restoredTooLong(kept: KeptFor): Archive[]
  /** Undefined for what does not exist, goes on, or somebody may still have to deal with. */
  subject(kind: ArchiveKind, id: string): ArchiveSubject | undefined
  /** Kept long enough, oldest first, and later than `after`. The last run of a workflow stays: it says how it went. */
  due(kind: ArchiveKind, kept: KeptFor, after: { finishedAt: number; id: string }, limit: number): ArchiveSubject[]
  countDue(kind: ArchiveKind, kept: KeptFor): number
  rowsOf(kind: ArchiveKind, id: string): Dossier
}

export interface ArchiveWrites extends ArchiveReads {
  insert(archive: Omit<Archive, 'bytes'>, document: Uint8Array): void
  setPlace(id: string, place: Pick<Archive, 'isPutAway' | 'restoredAt'>): void
  delete(id: string): void
  /** At most about `limit` rows of it, those first that others refer to last; returns how many, 0 when nothing is left. */
  deleteRows(kind: ArchiveKind, id: string, limit: number): number
  /** Numbers that were given to others meanwhile are given anew. */
  insertRows(rows: Dossier): void
}
