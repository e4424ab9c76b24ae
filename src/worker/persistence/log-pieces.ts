import type { DiskState, LogPiece } from './disk.ts'

/** Each new owner begins one; a fold gives back those that are no longer needed. */
const SLOTS = 12
/** So many places to read on opening that it is time to fold. */
export const MANY_PIECES = 6
/**
 * The browser keeps the names of these files in a database of its own that it does not sync. Until the system has written that
 * out, which takes half a minute, a loss of power could take a file with all that was written to it.
 */
export const RIPE_AFTER_MS = 2 * 60_000

export const slotNumbers: readonly number[] = Array.from({ length: SLOTS }, (_, n) => n)
export const slotName = (slot: number): string => `log-${slot}`

/** A file that nothing stored is in, once there is one that can be relied on. */
export function freeSlot(state: DiskState, now: number, ripeAfterMs: number): number | null {
  const { slotsSince, previous } = state
  if (slotsSince === undefined || now - slotsSince < ripeAfterMs) return null
  const used = new Set([...(state.pieces ?? []), ...(previous?.pieces ?? [])].map(({ slot }) => slot))
  return slotNumbers.find((slot) => !used.has(slot)) ?? null
}

/** What nothing was said about is in the database. */
export const piecesOf = ({ pieces = [], head }: Pick<DiskState, 'pieces' | 'head'>): readonly LogPiece[] =>
  pieces.length > 0 ? pieces : [{ first: head, slot: null }]

/** From here on the log goes on there. What would then be empty is left out. */
export const withPiece = (pieces: readonly LogPiece[], next: LogPiece): readonly LogPiece[] => [
  ...pieces.filter(({ first }) => first < next.first),
  next,
]

/** Without those of which every record is before the head. */
export const withoutFolded = (pieces: readonly LogPiece[], head: number): readonly LogPiece[] =>
  pieces.filter((_, n) => (pieces[n + 1]?.first ?? Infinity) > head)
