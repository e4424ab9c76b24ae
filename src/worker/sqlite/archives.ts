import { archiveKinds, type Archive } from '#engine/model/archive.ts'
import { dayMs } from '#engine/machine/retention.ts'
import type { ArchiveWrites } from '#engine/ports/archive-store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row, SqlValue } from './database.ts'
import { createDossiers } from './dossiers.ts'
import { integer, integerOrNull, oneOf, text } from './row.ts'
import { contains } from './views/page.ts'

const COLUMNS = `id, kind, subject_id, title, finished_at, archived_at, is_put_away, restored_at, json_bytes,
  length(document) AS bytes`
const SELECT = `SELECT ${COLUMNS} FROM archives`
const SELECT_ONE = `${SELECT} WHERE id = ?`
const SELECT_OF_SUBJECT = `${SELECT} WHERE subject_id = ?`
const SELECT_DOCUMENT = 'SELECT document FROM archives WHERE id = ?'
const SELECT_TOTALS = 'SELECT count(*) AS count, coalesce(sum(length(document)), 0) AS bytes FROM archives'
const SELECT_UNFINISHED = `${SELECT} WHERE is_put_away = 0 AND restored_at IS NULL ORDER BY +id`
/** A run that is back is in its table again, and its workflow may keep it for another time than everywhere. */
const KEPT_DAYS = `coalesce(
  (SELECT w.retention_days FROM script_runs r CROSS JOIN workflows w ON w.id = r.workflow_id WHERE r.id = subject_id), ${BOUND})`
const SELECT_RESTORED = `
  SELECT ${COLUMNS} FROM (SELECT *, ${KEPT_DAYS} AS kept_days FROM archives WHERE is_put_away = 0 AND restored_at IS NOT NULL)
  WHERE restored_at <= ${BOUND} - nullif(kept_days, 0) * ${dayMs} ORDER BY +id`
const INSERT = `
  INSERT INTO archives (id, kind, subject_id, title, finished_at, archived_at, is_put_away, restored_at, json_bytes, document)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const SET_PLACE = 'UPDATE archives SET is_put_away = ?, restored_at = ? WHERE id = ?'
const DELETE = 'DELETE FROM archives WHERE id = ?'

export function createArchiveRepository(database: Database): ArchiveWrites {
  const one = (sql: string, id: string): Archive | undefined => {
    const row = database.get(sql, [id])
    return row && rowToArchive(row)
  }
  return {
    ...createDossiers(database),
    get: (id) => one(SELECT_ONE, id),
    ofSubject: (subjectId) => one(SELECT_OF_SUBJECT, subjectId),
    list({ kind, text: wanted, before, limit }) {
      const conditions: [sql: string, ...params: SqlValue[]][] = []
      if (kind !== undefined) conditions.push(['kind = ?', kind])
      if (before !== undefined) conditions.push(['id < ?', before])
      if (wanted !== undefined && wanted !== '') {
        const like = contains(wanted)
        conditions.push([`(title LIKE ? ESCAPE '\\' OR subject_id LIKE ? ESCAPE '\\')`, like, like])
      }
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`
      const params = conditions.flatMap(([, ...values]) => values)
      return database.all(`${SELECT} ${where} ORDER BY id DESC LIMIT ${BOUND}`, [...params, limit]).map(rowToArchive)
    },
    totals() {
      const row = database.get(SELECT_TOTALS)
      return row ? { count: integer(row, 'count'), bytes: integer(row, 'bytes') } : { count: 0, bytes: 0 }
    },
    document(id) {
      const document = database.get(SELECT_DOCUMENT, [id])?.['document']
      return document instanceof Uint8Array ? document : undefined
    },
    unfinished: () => database.all(SELECT_UNFINISHED).map(rowToArchive),
    restoredTooLong: ({ now, days }) => database.all(SELECT_RESTORED, [days, now]).map(rowToArchive),
    insert(archive, document) {
      const { id, kind, subjectId, title, finishedAt, archivedAt, isPutAway, restoredAt, jsonBytes } = archive
      const place = [Number(isPutAway), restoredAt]
      database.run(INSERT, [id, kind, subjectId, title, finishedAt, archivedAt, ...place, jsonBytes, document])
    },
    setPlace(id, { isPutAway, restoredAt }) {
      database.changeOne(SET_PLACE, [Number(isPutAway), restoredAt, id])
    },
    delete(id) {
      database.changeOne(DELETE, [id])
    },
  }
}

function rowToArchive(row: Row): Archive {
  return {
    id: text(row, 'id'),
    kind: oneOf(row, 'kind', archiveKinds),
    subjectId: text(row, 'subject_id'),
    title: text(row, 'title'),
    finishedAt: integer(row, 'finished_at'),
    archivedAt: integer(row, 'archived_at'),
    isPutAway: integer(row, 'is_put_away') === 1,
    restoredAt: integerOrNull(row, 'restored_at'),
    jsonBytes: integer(row, 'json_bytes'),
    bytes: integer(row, 'bytes'),
  }
}
