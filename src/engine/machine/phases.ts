import type { ConsumerPhase, HandlerRun, HandlerType, Phase, ProducerPhase } from '../model/handler-run.ts'
import type { Result } from '../model/result.ts'
import { engineError } from '../model/errors.ts'
import { err } from '../model/result.ts'
import type { MoveTable } from './move-table.ts'
import { decideMove } from './move-table.ts'

/**
 *   producer   pending ─▶ executing ─▶ committed
 *
 *   consumer   pending ─▶ preparing ─▶ prepared ─▶ mutating ─▶ mutated ─▶ emitting ─▶ committed
 *                                         └── nothing reserved ──────────────────────────▲
 *
 * A phase only moves forward. A failure never moves it: that is what the status is for.
 */
export type ProducerEvent = 'begun' | 'handler_returned'
export type ConsumerEvent =
  | 'begun'
  | 'prepare_returned'
  | 'nothing_reserved'
  | 'mutate_begun'
  | 'mutation_settled'
  | 'emit_begun'
  | 'next_returned'
export type PhaseEvent = ProducerEvent | ConsumerEvent

export const producerTable: MoveTable<ProducerPhase, ProducerEvent> = {
  subject: 'A producer run',
  events: ['begun', 'handler_returned'],
  moves: {
    pending: { begun: 'executing' },
    executing: { handler_returned: 'committed' },
    committed: {},
  },
}

export const consumerTable: MoveTable<ConsumerPhase, ConsumerEvent> = {
  subject: 'A consumer run',
  events: [
    'begun',
    'prepare_returned',
    'nothing_reserved',
    'mutate_begun',
    'mutation_settled',
    'emit_begun',
    'next_returned',
  ],
  moves: {
    pending: { begun: 'preparing' },
    preparing: { prepare_returned: 'prepared' },
    prepared: { mutate_begun: 'mutating', nothing_reserved: 'committed' },
    mutating: { mutation_settled: 'mutated' },
    mutated: { emit_begun: 'emitting' },
    emitting: { next_returned: 'committed' },
    committed: {},
  },
}

const has = <K extends string>(record: Readonly<Record<K, unknown>>, key: string): key is K =>
  Object.hasOwn(record, key)

export const decidePhase = (handlerType: HandlerType, phase: Phase, event: PhaseEvent): Result<Phase> => {
  if (handlerType === 'producer') {
    if (has(producerTable.moves, phase) && isEventOf(producerTable, event))
      return decideMove(producerTable, phase, event)
  } else if (has(consumerTable.moves, phase) && isEventOf(consumerTable, event)) {
    return decideMove(consumerTable, phase, event)
  }
  return err(engineError('illegal_transition', `A ${handlerType} run in phase "${phase}" knows no event "${event}".`))
}

const isEventOf = <Event extends string>(table: { readonly events: readonly Event[] }, event: string): event is Event =>
  (table.events as readonly string[]).includes(event)

/**
 * The boundary: a mutation that was applied, or skipped by the user, is the point of no return. Before it a retry starts
 * afresh; after it a retry only runs `next` again.
 */
export const isPastBoundary = (run: Pick<HandlerRun, 'handlerType' | 'phase'>): boolean =>
  run.handlerType === 'consumer' && (run.phase === 'mutated' || run.phase === 'emitting' || run.phase === 'committed')

/** Where the attempt after this one starts. */
export const retryPhase = (run: Pick<HandlerRun, 'handlerType' | 'phase'>): Phase => {
  if (isPastBoundary(run)) return 'emitting'
  return run.handlerType === 'producer' ? 'executing' : 'preparing'
}
