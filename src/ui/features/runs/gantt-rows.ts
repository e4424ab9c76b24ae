import type { Phase } from '#engine/model/handler-run.ts'
import type { JsonText } from '#engine/model/json.ts'
import type { AttemptOutline } from '#worker/api.ts'

/** A handler's attempts on the same thing: the first and its retries, on one row. */
export interface GanttRow {
  /** Of the first attempt. */
  id: string
  handlerName: string
  handlerType: AttemptOutline['handlerType']
  title: string | null
  attempts: AttemptOutline[]
  last: AttemptOutline
}

export interface PhaseSpan {
  phase: Phase
  from: number
  to: number
}

/** One row per chain, in the order in which the chains began. */
export function ganttRows(attempts: readonly AttemptOutline[]): GanttRow[] {
  const rowOfAttempt = new Map<string, GanttRow>()
  const rows: GanttRow[] = []
  for (const attempt of attempts) {
    const row = attempt.retryOf === null ? undefined : rowOfAttempt.get(attempt.retryOf)
    if (row) {
      row.attempts.push(attempt)
      row.last = attempt
      row.title = attempt.title ?? row.title
      rowOfAttempt.set(attempt.id, row)
    } else {
      const { id, handlerName, handlerType, title } = attempt
      const started: GanttRow = { id, handlerName, handlerType, title, attempts: [attempt], last: attempt }
      rows.push(started)
      rowOfAttempt.set(id, started)
    }
  }
  return rows
}

/** When it was in which phase. The last one lasts until its end, or until now. */
export function phaseSpans(attempt: { phaseTimes: JsonText; endTimestamp: number | null }, now: number): PhaseSpan[] {
  const entered = JSON.parse(attempt.phaseTimes) as [Phase, number][]
  const end = attempt.endTimestamp ?? now
  return entered.map(([phase, from], i) => ({ phase, from, to: Math.max(from, entered[i + 1]?.[1] ?? end) }))
}
