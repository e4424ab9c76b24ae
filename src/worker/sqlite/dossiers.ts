import { dayMs, finishedBy } from '#engine/machine/retention.ts'
import type { ArchiveKind } from '#engine/model/archive.ts'
import { EngineBug } from '#engine/model/errors.ts'
import type { ArchiveSubject, ArchiveWrites, KeptFor, RawRow } from '#engine/ports/archive-store.ts'
import { BOUND } from './bound.ts'
import type { Database, Row, SqlValue } from './database.ts'
import { integer, integerOrNull, text } from './row.ts'

/*
 * Where the rows of a session or a run are. CROSS JOIN keeps SQLite to this order, from the one to the many. `rows` is in the
 * order in which they can be put back, `deletions` in the order in which they can go: nothing before what refers to it.
 */

const OF_SESSION = `workflows w WHERE w.session_id = ${BOUND}`
const ofWorkflows = (table: string): string =>
  `workflows w CROSS JOIN ${table} t ON t.workflow_id = w.id WHERE w.session_id = ${BOUND}`
const EVENTS_OF_SESSION = `workflows w CROSS JOIN topics o ON o.workflow_id = w.id CROSS JOIN events t ON t.topic_id = o.id
  WHERE w.session_id = ${BOUND}`
const ofRuns = (table: string): string => `workflows w CROSS JOIN script_runs r ON r.workflow_id = w.id
  CROSS JOIN ${table} t ON t.script_run_id = r.id WHERE w.session_id = ${BOUND}`
const ofAttempts = (table: string): string => `workflows w CROSS JOIN script_runs r ON r.workflow_id = w.id
  CROSS JOIN handler_runs h ON h.script_run_id = r.id CROSS JOIN ${table} t ON t.handler_run_id = h.id
  WHERE w.session_id = ${BOUND}`
const ofSession = (table: string): string => `${table} t WHERE t.session_id = ${BOUND}`
const ofRun = (table: string): string => `${table} t WHERE t.script_run_id = ${BOUND}`
const ofAttemptsOfRun = (table: string): string =>
  `handler_runs h CROSS JOIN ${table} t ON t.handler_run_id = h.id WHERE h.script_run_id = ${BOUND}`

const select = (from: string, order = ''): string => `SELECT t.* FROM ${from} ${order}`
/** In the order of their making, because an attempt refers to the one that it retries. */
const inOrder = 'ORDER BY t.id'

const rowsOf: Record<ArchiveKind, [table: string, sql: string][]> = {
  session: [
    ['sessions', `SELECT * FROM sessions WHERE id = ${BOUND}`],
    ['workflows', `SELECT w.* FROM ${OF_SESSION}`],
    ['scripts', select(ofWorkflows('scripts'))],
    ['topics', select(ofWorkflows('topics'))],
    ['script_runs', select(ofWorkflows('script_runs'))],
    ['handler_runs', select(ofRuns('handler_runs'), inOrder)],
    ['events', `SELECT t.*, o.name AS topic FROM ${EVENTS_OF_SESSION}`],
    ['mutations', select(ofAttempts('mutations'))],
    ['escalations', select(ofAttempts('escalations'))],
    ['logs', select(ofRuns('logs'), inOrder)],
    ['handler_state', select(ofWorkflows('handler_state'))],
    ['producer_schedules', select(ofWorkflows('producer_schedules'))],
    ['session_agents', select(ofSession('session_agents'))],
    ['session_events', select(ofSession('session_events'), inOrder)],
    ['session_context', select(ofSession('session_context'))],
    ['session_messages', select(ofSession('session_messages'), inOrder)],
  ],
  run: [
    ['script_runs', `SELECT * FROM script_runs WHERE id = ${BOUND}`],
    ['handler_runs', select(ofRun('handler_runs'), inOrder)],
    ['mutations', select(ofAttemptsOfRun('mutations'))],
    ['escalations', select(ofAttemptsOfRun('escalations'))],
    ['logs', select(ofRun('logs'), inOrder)],
  ],
}

const deleteSome = (table: string, from: string, order = ''): string =>
  `DELETE FROM ${table} WHERE id IN (SELECT t.id FROM ${from} ${order} LIMIT ${BOUND})`
const youngestFirst = 'ORDER BY t.id DESC'

const deletions: Record<ArchiveKind, string[]> = {
  session: [
    deleteSome('events', EVENTS_OF_SESSION),
    deleteSome('logs', ofRuns('logs')),
    deleteSome('escalations', ofAttempts('escalations')),
    deleteSome('mutations', ofAttempts('mutations')),
    deleteSome('handler_runs', ofRuns('handler_runs'), youngestFirst),
    deleteSome('script_runs', ofWorkflows('script_runs')),
    `DELETE FROM workflows WHERE id IN (SELECT w.id FROM ${OF_SESSION} LIMIT ${BOUND})`,
    deleteSome('session_events', ofSession('session_events')),
    deleteSome('session_messages', ofSession('session_messages')),
    `DELETE FROM sessions WHERE id = ${BOUND} AND 0 < ${BOUND}`,
  ],
  run: [
    deleteSome('logs', ofRun('logs')),
    deleteSome('escalations', ofAttemptsOfRun('escalations')),
    deleteSome('mutations', ofAttemptsOfRun('mutations')),
    deleteSome('handler_runs', ofRun('handler_runs'), youngestFirst),
    `DELETE FROM script_runs WHERE id = ${BOUND} AND 0 < ${BOUND}`,
  ],
}

/** A session changes only by leaving a line in its audit trail. */
const SUBJECT_SESSION = `
  SELECT s.id, s.objective AS title, s.completed_at AS finished_at,
    (SELECT max(e.id) FROM session_events e WHERE e.session_id = s.id) AS mark
  FROM sessions s
  WHERE s.completed_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM session_agents a WHERE a.session_id = s.id AND a.state IN ('running', 'paused', 'blocked')
  ) AND NOT EXISTS (SELECT 1 FROM archives x WHERE x.subject_id = s.id)`
/** With a retry to come, a question open or an event held, somebody still has to deal with it. */
const SUBJECT_RUN = `
  SELECT r.id, w.name AS title, r.end_timestamp AS finished_at, r.end_timestamp AS mark
  FROM script_runs r CROSS JOIN workflows w ON w.id = r.workflow_id
  WHERE r.end_timestamp IS NOT NULL AND w.session_id IS NULL AND NOT EXISTS (
    SELECT 1 FROM handler_runs h WHERE h.script_run_id = r.id AND (
      h.retry_at IS NOT NULL OR h.status = 'active' OR h.id IS w.block_run_id
      OR EXISTS (SELECT 1 FROM escalations x WHERE x.handler_run_id = h.id AND x.resolved_at IS NULL)
      OR EXISTS (SELECT 1 FROM events e WHERE e.reserved_by_run_id = h.id)
    )
  ) AND NOT EXISTS (SELECT 1 FROM archives x WHERE x.subject_id = r.id)`

/** First by the shortest time that any workflow keeps its runs, for which there is an index; then by its own. For ever is no time. */
const IS_KEPT_LONG_ENOUGH = `r.end_timestamp <= ${BOUND}
  AND r.end_timestamp <= ${BOUND} - nullif(coalesce(w.retention_days, ${BOUND}), 0) * ${dayMs}`

const subjects: Record<ArchiveKind, { one: string; due: string }> = {
  session: {
    one: `${SUBJECT_SESSION} AND s.id = ${BOUND}`,
    due: `${SUBJECT_SESSION} AND s.completed_at <= ${BOUND} AND (s.completed_at, s.id) > (${BOUND}, ${BOUND})
      ORDER BY s.completed_at, s.id`,
  },
  run: {
    one: `${SUBJECT_RUN} AND r.id = ${BOUND}`,
    due: `${SUBJECT_RUN} AND ${IS_KEPT_LONG_ENOUGH} AND (r.end_timestamp, r.id) > (${BOUND}, ${BOUND})
      AND r.id <> (SELECT max(id) FROM script_runs WHERE workflow_id = w.id)
      ORDER BY r.end_timestamp, r.id`,
  },
}
const SELECT_SHORTEST_OWN = 'SELECT min(retention_days) AS days FROM workflows WHERE retention_days > 0'

/** Numbers of these were not promised to anybody, and others may have them by now. */
const numberedAnew: ReadonlySet<string> = new Set(['topics', 'logs', 'handler_state', 'producer_schedules'])
const TOPIC_ID = 'SELECT id FROM topics WHERE workflow_id = ? AND name = ?'
const EVER: [number, string] = [Number.MIN_SAFE_INTEGER, '']

type Dossiers = Pick<ArchiveWrites, 'subject' | 'due' | 'countDue' | 'rowsOf' | 'deleteRows' | 'insertRows'>

/** The rows of one finished thing, whatever they mean. */
export function createDossiers(database: Database): Dossiers {
  const columnsOf = (table: string): Set<string> =>
    new Set(database.all('SELECT name FROM pragma_table_info(?)', [table]).map((row) => text(row, 'name')))

  const insert = (table: string, row: RawRow, columns: ReadonlySet<string>): void => {
    // What a later version of the tables no longer has is left out.
    const names = Object.keys(row).filter((name) => columns.has(name) && !(name === 'id' && numberedAnew.has(table)))
    const quoted = names.map((name) => `"${name}"`).join(', ')
    const values = names.map((name) => row[name] ?? null)
    database.run(`INSERT INTO ${table} (${quoted}) VALUES (${names.map(() => '?').join(', ')})`, values)
  }

  /** What `subjects[kind].due` wants to know first; null when everything is kept for ever. */
  const keptParams = (kind: ArchiveKind, { now, days }: KeptFor): number[] | null => {
    const own = kind === 'run' ? database.get(SELECT_SHORTEST_OWN) : undefined
    const all = [days, own ? (integerOrNull(own, 'days') ?? 0) : 0].filter((one) => one > 0)
    const latest = finishedBy(now, all.length === 0 ? 0 : Math.min(...all))
    if (latest === null) return null
    return kind === 'run' ? [latest, now, days] : [latest]
  }

  return {
    subject(kind, id) {
      const row = database.get(subjects[kind].one, [id])
      return row && rowToSubject(kind, row)
    },
    due(kind, kept, after, limit) {
      const params = keptParams(kind, kept)
      if (params === null) return []
      return database
        .all(`${subjects[kind].due} LIMIT ${BOUND}`, [...params, after.finishedAt, after.id, limit])
        .map((row) => rowToSubject(kind, row))
    },
    countDue(kind, kept) {
      const params = keptParams(kind, kept)
      const sql = `SELECT count(*) AS due FROM (${subjects[kind].due})`
      const row = params === null ? undefined : database.get(sql, [...params, ...EVER])
      return row ? integer(row, 'due') : 0
    },
    rowsOf: (kind, id) =>
      Object.fromEntries(rowsOf[kind].map(([table, sql]) => [table, database.all(sql, [id]).map(withoutBlobs)])),
    deleteRows(kind, id, limit) {
      let deleted = 0
      for (const sql of deletions[kind]) {
        if (deleted >= limit) break
        deleted += database.run(sql, [id, limit - deleted])
      }
      return deleted
    },
    insertRows(dossier) {
      for (const [table, rows] of Object.entries(dossier)) {
        if (rows.length === 0) continue
        if (!rowsOf.session.some(([known]) => known === table)) throw new EngineBug(`There is no table "${table}".`)
        const columns = columnsOf(table)
        for (const row of rows) insert(table, table === 'events' ? withTopic(database, row) : row, columns)
      }
    },
  }
}

/** The document names the topic, not its number. */
function withTopic(database: Database, { topic, ...event }: RawRow): RawRow {
  const found = database.get(TOPIC_ID, [event['workflow_id'] ?? null, topic ?? null])
  if (!found) throw new EngineBug(`There is no topic ${JSON.stringify(topic)} for the event ${String(event['id'])}.`)
  return { ...event, topic_id: integer(found, 'id') }
}

const withoutBlobs = (row: Row): RawRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(name, value)]))

function plain(name: string, value: SqlValue): RawRow[string] {
  if (value instanceof Uint8Array) throw new EngineBug(`The column ${name} cannot be written as JSON.`)
  return value
}

const rowToSubject = (kind: ArchiveKind, row: Row): ArchiveSubject => ({
  kind,
  id: text(row, 'id'),
  title: text(row, 'title'),
  finishedAt: integer(row, 'finished_at'),
  mark: String(row['mark']),
})
