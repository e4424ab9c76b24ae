import type { ArchiveKind } from '../../model/archive.ts'
import { engineError } from '../../model/errors.ts'
import type { Result } from '../../model/result.ts'
import { err, ok } from '../../model/result.ts'
import type { ArchiveSubject, Dossier, RawRow } from '../../ports/archive-store.ts'

/** What an archive holds: readable without Holdfast, and enough to bring everything back. */
interface ArchiveDocument {
  format: 'holdfast-archive'
  version: 1
  kind: ArchiveKind
  id: string
  title: string
  finishedAt: number
  tables: Dossier
}

export const writeDocument = ({ kind, id, title, finishedAt }: ArchiveSubject, tables: Dossier): string =>
  JSON.stringify({
    format: 'holdfast-archive',
    version: 1,
    kind,
    id,
    title,
    finishedAt,
    tables,
  } satisfies ArchiveDocument)

export const readDocument = (json: string): Result<Dossier> => {
  const document = parse(json) as Partial<ArchiveDocument> | null
  if (document?.format !== 'holdfast-archive' || typeof document.tables !== 'object') {
    return err(engineError('storage', 'The document of this archive is damaged: nothing was brought back.'))
  }
  return document.version === 1
    ? ok(document.tables)
    : err(engineError('storage', 'This archive was made by a newer Holdfast. Reload the page to get that version.'))
}

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

export const countRows = (dossier: Dossier): number =>
  Object.values(dossier).reduce((sum, rows) => sum + rows.length, 0)

/** A workflow and its script refer to each other, so they have to arrive together. */
const together: readonly string[] = ['sessions', 'workflows', 'scripts']

/** In pieces of at most `size` rows, each of which can be put back when those before it were. */
export const inPieces = (dossier: Dossier, size: number): Dossier[] => {
  const entries = Object.entries(dossier)
  const first = entries.filter(([table]) => together.includes(table))
  const pieces: Dossier[] = first.length === 0 ? [] : [Object.fromEntries(first)]
  for (const [table, rows] of entries) {
    if (together.includes(table)) continue
    for (let from = 0; from < rows.length; from += size) pieces.push({ [table]: rows.slice(from, from + size) })
  }
  return pieces
}

/** A session that comes back can be told by this from one that never was away, from its first row on. */
export const markRestored = (dossier: Dossier, now: number): Dossier => ({
  ...dossier,
  ...(dossier['sessions'] && {
    sessions: dossier['sessions'].map((row): RawRow => ({ ...row, restored_at: now })),
  }),
})
