import type { Archive } from '../../model/archive.ts'
import type { Result } from '../../model/result.ts'
import { ok } from '../../model/result.ts'
import type { ArchiveSubject } from '../../ports/archive-store.ts'
import type { EnginePorts } from '../ports.ts'
import { rowsPerTransaction } from '../transitions/archives.ts'
import type { Transitions } from '../transitions/index.ts'
import { countRows, inPieces, markRestored, readDocument, writeDocument } from './archive-document.ts'

export interface PackingParts {
  ports: EnginePorts
  transitions: Transitions
  /** Between two transactions: the disk catches up, others have their turn, and whoever must stop is stopped here. */
  pause(): Promise<void>
}

/** Carries one session or run out of the tables, or back. Dying anywhere in it leaves either its rows or its document. */
export const createPacking = ({ ports, transitions, pause }: PackingParts) => {
  const { store, compression, crash } = ports

  const deleteRows = async (archive: Archive): Promise<void> => {
    for (;;) {
      await pause()
      const isDone = transitions.deleteArchivedRows(archive)
      crash.reach('archive_rows_deleted')
      if (isDone) return
    }
  }

  const archive = async (subject: ArchiveSubject): Promise<Result<Archive>> => {
    const dossier = store.archives.rowsOf(subject.kind, subject.id)
    const json = writeDocument(subject, dossier)
    const document = await compression.compress(json)
    const packed = { subject, document, jsonBytes: json.length, rowCount: countRows(dossier) }
    const put = transitions.putAway(packed)
    if (!put.ok) return put
    crash.reach('archive_written')
    if (!put.value.isPutAway) await deleteRows(put.value)
    return ok({ ...put.value, isPutAway: true })
  }

  const putBack = async (archived: Archive): Promise<void> => {
    transitions.putBackArchive(archived)
    await deleteRows(archived)
  }

  const restore = async (archived: Archive, now: number): Promise<Result<null>> => {
    const document = store.archives.document(archived.id) ?? new Uint8Array()
    const dossier = readDocument(await compression.decompress(document).catch(() => ''))
    if (!dossier.ok) return dossier
    for (const piece of inPieces(markRestored(dossier.value, now), rowsPerTransaction)) {
      transitions.restoreArchivedRows(archived, piece)
      crash.reach('archive_rows_restored')
      await pause()
    }
    transitions.finishRestore(archived)
    return ok(null)
  }

  return { archive, deleteRows, putBack, restore }
}
