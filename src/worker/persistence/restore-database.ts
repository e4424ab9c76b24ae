import { ok, type Result } from '#engine/model/result.ts'
import { attempt } from './attempt-file.ts'
import { DISK_FORMAT, EXTENT_BYTES, type Disk, type DiskState, type DiskTrouble, type Epoch } from './disk.ts'
import { EXTENTS_PER_WRITE } from './folding.ts'
import { piecesOf } from './log-pieces.ts'
import type { SpareCopy } from './spare-copy.ts'

const NOTHING: DiskState = { format: DISK_FORMAT, generation: 1, head: 1, baseBytes: 0, previous: null }

/**
 * Puts the database together again from its spare copy, where the browser has thrown it away. The state comes last: dying before that
 * leaves everything as it was found. What is not in the copy is noted as lost, so that nobody takes what is left for the whole.
 * Answers whether there was anything to be done.
 */
export async function restoreFrom(
  spare: SpareCopy,
  database: Disk,
  epoch: Epoch,
): Promise<Result<boolean, DiskTrouble>> {
  const kept = spare.state ?? NOTHING
  const { generation, baseBytes } = kept
  const isThrownAway = await isWithoutLog(database, generation)
  if (!isThrownAway.ok || !isThrownAway.value) return isThrownAway
  const count = Math.ceil(baseBytes / EXTENT_BYTES)
  for (let first = 0; first < count; first += EXTENTS_PER_WRITE) {
    const extents = await attempt(() => spare.readExtents(first, Math.min(EXTENTS_PER_WRITE, count - first)))
    if (!extents.ok) return extents
    const written = await database.write({ epoch, generation, durability: 'strict', extents: extents.value })
    if (!written.ok) return written
  }
  const last = piecesOf(kept).at(-1)
  const state = last?.slot === null ? { ...kept, lostFrom: last.first } : kept
  const written = await database.write({ epoch, generation, durability: 'strict', state })
  return written.ok ? ok(true) : written
}

/** With a log, but without the state, it was not thrown away: it is damaged, and left as it is. Extents may be from an earlier attempt. */
async function isWithoutLog(database: Disk, generation: number): Promise<Result<boolean, DiskTrouble>> {
  const newest = await database.newestGeneration()
  if (!newest.ok) return newest
  if (newest.value !== generation) return ok(newest.value === 0)
  let records = 0
  const read = await database.readRecords(generation, 0, () => (records += 1))
  return read.ok ? ok(records === 0) : read
}
