import type { Archive } from '../../model/archive.ts'
import { engineError } from '../../model/errors.ts'
import type { UpkeepSummary } from '../../model/retention.ts'
import { err, ok } from '../../model/result.ts'
import type { Result } from '../../model/result.ts'
import type { ArchiveSubject, Dossier } from '../../ports/archive-store.ts'
import { limitsKey } from '../workflow-limits.ts'
import type { Transition } from './context.ts'
import { recordSessionEvent } from './session-moves.ts'

/** Rows per transaction: some milliseconds of work, so that nobody waits for it. */
export const rowsPerTransaction = 500

export interface Packed {
  subject: ArchiveSubject
  document: Uint8Array
  jsonBytes: number
  rowCount: number
}

/** The document is kept in the same transaction in which the first rows go: at no moment is there neither. */
export const putAway = (transition: Transition, packed: Packed): Result<Archive> => {
  const { tx, now, ids } = transition
  const { kind, id: subjectId, title, finishedAt, mark } = packed.subject
  if (tx.archives.subject(kind, subjectId)?.mark !== mark) {
    return err(engineError('illegal_transition', `"${title}" has changed meanwhile, so it was not archived.`))
  }
  const isPutAway = packed.rowCount <= rowsPerTransaction
  const { document, jsonBytes } = packed
  const archive = {
    ...{ id: ids.next('arc'), kind, subjectId, title, finishedAt, archivedAt: now },
    ...{ isPutAway, restoredAt: null, jsonBytes },
  }
  forgetMemories(transition, archive)
  tx.archives.insert(archive, document)
  tx.archives.deleteRows(kind, subjectId, isPutAway ? packed.rowCount * 2 : rowsPerTransaction)
  return ok({ ...archive, bytes: document.length })
}

/** True when nothing is left. Asked again after a crash, it goes on where it was. */
export const deleteArchivedRows = (transition: Transition, archive: Archive): boolean => {
  const { tx } = transition
  if (tx.archives.deleteRows(archive.kind, archive.subjectId, rowsPerTransaction) > 0) return false
  tx.archives.setPlace(archive.id, { isPutAway: true, restoredAt: null })
  return true
}

/** What was brought back goes away again: its document is still there. */
export const putBack = (transition: Transition, archive: Archive): void => {
  forgetMemories(transition, archive)
  transition.tx.archives.setPlace(archive.id, { isPutAway: false, restoredAt: null })
}

/** Until `finishRestore` it counts as neither away nor back, and a crash makes it go away again. */
export const restoreRows = ({ tx }: Transition, archive: Archive, piece: Dossier): void => {
  tx.archives.setPlace(archive.id, { isPutAway: false, restoredAt: null })
  tx.archives.insertRows(piece)
}

export const finishRestore = (transition: Transition, { id, kind, subjectId }: Archive): void => {
  const { tx, now } = transition
  tx.archives.setPlace(id, { isPutAway: false, restoredAt: now })
  if (kind === 'session') recordSessionEvent(transition, subjectId, 'session_restored', null)
}

export const deleteArchive = ({ tx }: Transition, id: string): Result<void> => {
  const archive = tx.archives.get(id)
  if (archive === undefined) return err(unknownArchive(id))
  if (!archive.isPutAway && archive.restoredAt === null) {
    return err(engineError('illegal_transition', `"${archive.title}" is just being put away. Try again in a moment.`))
  }
  tx.archives.delete(id)
  return ok(undefined)
}

export const unknownArchive = (id: string) => engineError('not_found', `There is no archive "${id}".`)

/** Whoever keeps something of it in memory lets go of it now, and of what is kept beside it. */
const forgetMemories = ({ tx, note }: Transition, { kind, subjectId }: Pick<Archive, 'kind' | 'subjectId'>): void => {
  if (kind !== 'session') return
  for (const { workflowId } of tx.sessionAgents.planOf(subjectId)) {
    if (workflowId === null) continue
    tx.settings.remove(limitsKey(workflowId))
    note({ kind: 'deleted', workflowId })
  }
  note({ kind: 'session_changed', sessionId: subjectId, agentId: null })
}

export const retentionKey = 'retention'
export const lastUpkeepKey = 'retention:last'

export const setRetentionDays = ({ tx, now }: Transition, days: number): void => {
  tx.settings.set(retentionKey, JSON.stringify({ days }), now)
}

export const recordUpkeep = ({ tx, now }: Transition, summary: UpkeepSummary): void => {
  tx.settings.set(lastUpkeepKey, JSON.stringify(summary), now)
}
