import { ganttRows, phaseSpans } from '#ui/features/runs/gantt-rows.ts'
import type { AttemptOutline } from '#worker/api.ts'
import { describe, expect, it } from 'vitest'

const attempt = (id: string, changes: Partial<AttemptOutline> = {}): AttemptOutline => ({
  id,
  handlerType: 'consumer',
  handlerName: 'process',
  phase: 'committed',
  status: 'committed',
  retryOf: null,
  attempt: 1,
  retryAt: null,
  title: null,
  error: null,
  errorType: null,
  phaseTimes: '[]',
  startTimestamp: 0,
  endTimestamp: 1,
  ...changes,
})

describe('the rows of a timeline', () => {
  it('hold an attempt and all its retries, and the title that was last given', () => {
    const rows = ganttRows([
      attempt('a', { status: 'paused:transient', title: 'First try' }),
      attempt('b'),
      attempt('c', { retryOf: 'a', attempt: 2, status: 'crashed' }),
      attempt('d', { retryOf: 'c', attempt: 3, title: 'Third try' }),
    ])
    expect(rows.map(({ id, title, last, attempts }) => [id, title, last.id, attempts.length])).toEqual([
      ['a', 'Third try', 'd', 3],
      ['b', null, 'b', 1],
    ])
  })

  it('keep a retry whose first attempt is not there', () => {
    expect(ganttRows([attempt('b', { retryOf: 'gone', attempt: 2 })])).toHaveLength(1)
  })
})

describe('the phases of an attempt', () => {
  const phaseTimes = '[["pending",10],["preparing",12],["prepared",20]]'

  it('last until the next one, and the last one until the end', () => {
    expect(phaseSpans({ phaseTimes, endTimestamp: 30 }, 99)).toEqual([
      { phase: 'pending', from: 10, to: 12 },
      { phase: 'preparing', from: 12, to: 20 },
      { phase: 'prepared', from: 20, to: 30 },
    ])
  })

  it('last until now while it goes on, and never end before they began', () => {
    expect(phaseSpans({ phaseTimes, endTimestamp: null }, 50).at(-1)).toEqual({ phase: 'prepared', from: 20, to: 50 })
    expect(phaseSpans({ phaseTimes, endTimestamp: null }, 0).at(-1)?.to).toBe(20)
  })
})
