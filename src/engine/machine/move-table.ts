import { engineError } from '../model/errors.ts'
import { err, ok } from '../model/result.ts'
import type { Result } from '../model/result.ts'

/** A state machine as data: `moves[state][event]` is the next state, an absent cell is an illegal move. */
export interface MoveTable<State extends string, Event extends string> {
  /** What moves, for messages: "a consumer run". */
  readonly subject: string
  readonly events: readonly Event[]
  readonly moves: Readonly<Record<State, Readonly<Partial<Record<Event, State>>>>>
}

export const decideMove = <State extends string, Event extends string>(
  table: MoveTable<State, Event>,
  state: State,
  event: Event,
): Result<State> => {
  const next = table.moves[state][event]
  if (next !== undefined) return ok(next)
  const legal = Object.keys(table.moves[state])
  return err(
    engineError(
      'illegal_transition',
      `${table.subject} that is "${state}" cannot take "${event}"; ` +
        (legal.length === 0
          ? `nothing follows "${state}".`
          : `from there only ${legal.map((name) => `"${name}"`).join(', ')} can follow.`),
    ),
  )
}

export const isFinal = <State extends string, Event extends string>(
  table: MoveTable<State, Event>,
  state: State,
): boolean => Object.keys(table.moves[state]).length === 0
