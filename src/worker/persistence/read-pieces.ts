import { err, ok, type Result } from '#engine/model/result.ts'
import { attempt } from './attempt-file.ts'
import type { Disk, DiskTrouble, LogPiece, StoredPiece } from './disk.ts'
import type { LogFolder } from './log-folder.ts'
import { slotName, slotNumbers } from './log-pieces.ts'
import { readFirstFrame, readLogFile, readWhole } from './read-log-file.ts'

/** Both places that a log can be in. */
export interface LogPlaces {
  database: Pick<Disk, 'readRecords'>
  folder: LogFolder | null
}

type OnPiece = (piece: StoredPiece) => void

interface Stretch {
  generation: number
  from: number
  until: number
}

/** Hands over the records from `from` on, wherever they are. What should be there and is not is handed over empty. */
export async function readPieces(
  places: LogPlaces,
  pieces: readonly LogPiece[],
  { generation, from }: Pick<Stretch, 'generation' | 'from'>,
  onPiece: OnPiece,
): Promise<Result<void, DiskTrouble>> {
  let next = from
  for (const [n, piece] of pieces.entries()) {
    const until = pieces[n + 1]?.first ?? Infinity
    if (until <= next) continue
    const stretch = { generation, from: Math.max(next, piece.first), until }
    const read = await (piece.slot === null
      ? readFromDatabase(places, stretch, onPiece)
      : readFromFile(places, piece, stretch, onPiece))
    if (!read.ok) return read
    next = read.value
  }
  return ok(undefined)
}

async function readFromDatabase(
  { database }: LogPlaces,
  { generation, from, until }: Stretch,
  onPiece: OnPiece,
): Promise<Result<number, DiskTrouble>> {
  let next = from
  const read = await database.readRecords(generation, from, (piece) => {
    if (piece.index >= until) return
    onPiece(piece)
    next = piece.index + 1
  })
  if (!read.ok) return read
  if (until !== Infinity && next < until) onPiece({ index: next, bytes: new ArrayBuffer(0) })
  return ok(next)
}

async function readFromFile(
  { folder }: LogPlaces,
  { slot, epoch, mark }: Extract<LogPiece, { slot: number }>,
  { generation, from, until }: Stretch,
  onPiece: OnPiece,
): Promise<Result<number, DiskTrouble>> {
  if (!folder) return err({ kind: 'lost', reason: 'The files that the log is in cannot be opened.' })
  const read = await attempt(() => readSlot(folder, slot))
  if (!read.ok) return read
  return ok(readLogFile(read.value, { owner: { generation, epoch, mark }, from, until }, onPiece))
}

async function readSlot(folder: LogFolder, slot: number): Promise<Uint8Array<ArrayBuffer>> {
  const file = await folder.open(slotName(slot))
  try {
    const bytes = readWhole(file)
    // What a killed tab has left in the system's memory: nothing may be built on it before it is on the disk.
    file.flush()
    return bytes
  } finally {
    file.close()
  }
}

/** When nothing says where the log is: what the files say of themselves, as far back as one goes on where another ends. */
export async function guessPieces(
  database: LogPlaces['database'],
  folder: LogFolder,
  generation: number,
): Promise<Result<readonly LogPiece[], DiskTrouble>> {
  const indexes: number[] = []
  const read = await database.readRecords(generation, 0, ({ index }) => indexes.push(index))
  if (!read.ok) return read
  const stretches = indexes.slice(0, 1).map((first): { piece: LogPiece; next: number } => {
    return { piece: { first, slot: null }, next: (indexes.at(-1) ?? first) + 1 }
  })
  return attempt(async () => {
    for (const slot of slotNumbers) {
      const bytes = await readSlot(folder, slot)
      const head = readFirstFrame(bytes)
      if (head?.owner.generation !== generation) continue
      const { owner, first } = head
      const next = readLogFile(bytes, { owner, from: first, until: Infinity }, () => undefined)
      stretches.push({ piece: { first, slot, epoch: owner.epoch, mark: owner.mark }, next })
    }
    stretches.sort((a, b) => a.piece.first - b.piece.first)
    const broken = stretches.findLastIndex(({ next }, n) => next < (stretches[n + 1]?.piece.first ?? 0))
    return stretches.slice(broken + 1).map(({ piece }) => piece)
  })
}
