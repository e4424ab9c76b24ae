import type { DemoSnapshot, EventRow } from '#worker/api.ts'

/** What the demo world itself has on its books: nothing here is taken from the engine on trust. */
export interface Books {
  /** Mails that nobody has archived yet. */
  waiting: number
  rows: number
  /** Mails with more than one row. */
  twice: number
  /** Mails that the engine calls done and that have no row. */
  lost: number
}

const DEMO_SHEET = 'Triage'

/** `done` are the events that the engine says are dealt with; their titles are the subjects of the mails, each only once. */
export function auditBooks({ mails, sheets }: DemoSnapshot, done: readonly Pick<EventRow, 'title'>[]): Books {
  const subjects = (sheets[DEMO_SHEET] ?? []).map(({ values }) => values['subject'])
  const written = new Set(subjects)
  return {
    waiting: mails.filter(({ archived }) => !archived).length,
    rows: subjects.length,
    twice: subjects.length - written.size,
    lost: done.filter(({ title }) => title !== null && !written.has(title)).length,
  }
}
