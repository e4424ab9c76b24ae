import { expect, describe, test } from 'vitest'
import { decidePhase, consumerTable, isPastBoundary, producerTable, retryPhase } from '#engine/machine/phases.ts'
import type { PhaseEvent } from '#engine/machine/phases.ts'
import type { MoveTable } from '#engine/machine/move-table.ts'
import { decideMove, isFinal } from '#engine/machine/move-table.ts'
import { eventTable, mutationTable, runResultOf, statusTable, workflowTable } from '#engine/machine/statuses.ts'
import { eventStatuses } from '#engine/model/event.ts'
import { consumerPhases, producerPhases, runStatuses } from '#engine/model/handler-run.ts'
import { mutationStatuses } from '#engine/model/mutation.ts'
import { workflowStatuses } from '#engine/model/workflow.ts'

/** The spec's own drawing of each machine, written out a second time on purpose: the table and this list must agree. */
const legalMoves: Record<string, { table: MoveTable<string, string>; states: readonly string[]; moves: string[] }> = {
  'producer phase': {
    table: producerTable,
    states: producerPhases,
    moves: ['pending -begun-> executing', 'executing -handler_returned-> committed'],
  },
  'consumer phase': {
    table: consumerTable,
    states: consumerPhases,
    moves: [
      'pending -begun-> preparing',
      'preparing -prepare_returned-> prepared',
      'prepared -nothing_reserved-> committed',
      'prepared -mutate_begun-> mutating',
      'mutating -mutation_settled-> mutated',
      'mutated -emit_begun-> emitting',
      'emitting -next_returned-> committed',
    ],
  },
  'run status': {
    table: statusTable,
    states: runStatuses,
    moves: [
      'active -committed-> committed',
      'active -failed_transiently-> paused:transient',
      'active -approval_needed-> paused:approval',
      'active -outcome_lost-> paused:reconciliation',
      'active -script_failed-> failed:logic',
      'active -engine_failed-> failed:internal',
      'active -crashed-> crashed',
      'active -cancelled-> cancelled',
      'paused:transient -cancelled-> cancelled',
      'paused:approval -cancelled-> cancelled',
      'paused:reconciliation -outcome_settled-> active',
      'paused:reconciliation -check_begun-> active',
      'crashed -cancelled-> cancelled',
    ],
  },
  mutation: {
    table: mutationTable,
    states: mutationStatuses,
    moves: [
      'pending -sent-> in_flight',
      'pending -refused-> failed',
      'in_flight -succeeded-> applied',
      'in_flight -definitely_failed-> failed',
      'in_flight -outcome_lost-> indeterminate',
      'indeterminate -confirmed-> applied',
      'indeterminate -denied-> failed',
      'indeterminate -left_open-> indeterminate',
    ],
  },
  event: {
    table: eventTable,
    states: eventStatuses,
    moves: [
      'pending -reserved-> reserved',
      'pending -skipped-> skipped',
      'reserved -released-> pending',
      'reserved -consumed-> consumed',
      'reserved -skipped-> skipped',
    ],
  },
  workflow: {
    table: workflowTable,
    states: workflowStatuses,
    moves: [
      'draft -activated-> active',
      'draft -archived-> archived',
      'active -paused-> paused',
      'active -archived-> archived',
      'paused -activated-> active',
      'paused -archived-> archived',
      'archived -restored-> paused',
    ],
  },
}

describe.each(Object.entries(legalMoves))('%s', (_name, { table, states, moves }) => {
  const everyCell = states.flatMap((state) => table.events.map((event) => ({ state, event })))

  test('the table has a row for every state and no other', () => {
    expect(Object.keys(table.moves).sort()).toEqual([...states].sort())
  })

  test.each(everyCell)('$state × $event moves only if it is legal, and is refused otherwise', ({ state, event }) => {
    const decided = decideMove(table, state, event)
    const legal = moves.find((move) => move.startsWith(`${state} -${event}-> `))
    if (legal === undefined) {
      expect(decided).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
      if (!decided.ok) expect(decided.error.message).toContain(`"${state}" cannot take "${event}"`)
    } else expect(decided).toEqual({ ok: true, value: legal.split('-> ')[1] })
  })

  test('every legal move of the drawing is in the table', () => {
    const inTable = states.flatMap((state) =>
      Object.entries(table.moves[state] ?? {}).map(([event, next]) => `${state} -${event}-> ${String(next)}`),
    )
    expect(inTable.sort()).toEqual([...moves].sort())
  })
})

const allPhases = [...new Set([...producerPhases, ...consumerPhases])]
const allPhaseEvents = [...new Set<PhaseEvent>([...producerTable.events, ...consumerTable.events])]

test.each(['producer', 'consumer'] as const)('a %s run never takes a phase or an event of the other kind', (type) => {
  const table: MoveTable<string, string> = type === 'producer' ? producerTable : consumerTable
  for (const phase of allPhases) {
    for (const event of allPhaseEvents) {
      const expected = table.moves[phase]?.[event]
      expect(decidePhase(type, phase, event).ok, `${phase} × ${event}`).toBe(expected !== undefined)
    }
  }
})

test('a phase never moves backwards', () => {
  const machines: [readonly string[], MoveTable<string, string>][] = [
    [producerPhases, producerTable],
    [consumerPhases, consumerTable],
  ]
  for (const [order, table] of machines) {
    const position = (phase: string) => order.indexOf(phase)
    for (const [phase, moves] of Object.entries(table.moves)) {
      for (const next of Object.values(moves)) expect(position(next ?? '')).toBeGreaterThan(position(phase))
    }
  }
})

test('no state leads back to in_flight: what was sent once is never sent again by the same entry', () => {
  const into = Object.entries(mutationTable.moves).filter(([, moves]) => Object.values(moves).includes('in_flight'))
  expect(into.map(([state]) => state)).toEqual(['pending'])
})

test('a stopped attempt stays as it stopped, except that an answered question lets it go on', () => {
  const backToActive = Object.entries(statusTable.moves).filter(([, moves]) => Object.values(moves).includes('active'))
  expect(backToActive.map(([state]) => state)).toEqual(['paused:reconciliation'])
  expect(runStatuses.filter((status) => isFinal(statusTable, status))).toEqual([
    'failed:logic',
    'failed:internal',
    'cancelled',
    'committed',
  ])
})

test('the boundary is the settled mutation: before it a retry starts afresh, after it only next is left', () => {
  const start = (phase: (typeof consumerPhases)[number]) => retryPhase({ handlerType: 'consumer', phase })
  expect(consumerPhases.map((phase) => [phase, start(phase)])).toEqual([
    ['pending', 'preparing'],
    ['preparing', 'preparing'],
    ['prepared', 'preparing'],
    ['mutating', 'preparing'],
    ['mutated', 'emitting'],
    ['emitting', 'emitting'],
    ['committed', 'emitting'],
  ])
  expect(isPastBoundary({ handlerType: 'producer', phase: 'committed' })).toBe(false)
})

test('what stops an attempt decides how its run ends', () => {
  expect(runResultOf).toEqual({
    active: null,
    committed: null,
    crashed: null,
    'paused:transient': 'suspended',
    'paused:approval': 'suspended',
    'paused:reconciliation': 'suspended',
    'failed:logic': 'failed',
    'failed:internal': 'failed',
    cancelled: 'cancelled',
  })
})
