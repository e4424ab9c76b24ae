import { err, ok, type Result } from '#engine/model/result.ts'
import {
  DISK_FORMAT,
  EXTENT_BYTES,
  type Disk,
  type DiskState,
  type DiskTrouble,
  type Epoch,
  type Generation,
} from './disk.ts'
import { FileMirror } from './file-mirror.ts'
import { EXTENTS_PER_WRITE, extentAt } from './folding.ts'
import { guessGeneration } from './read-stored.ts'

export interface Owner {
  disk: Disk
  epoch: Epoch
  now: () => number
}

/**
 * For whoever has no open database, because the stored one cannot be opened: becomes the owner first. Data of a newer version is
 * left alone: what it would be replaced by could not say how the old one is to be read.
 */
export async function changeStored(
  disk: Disk,
  now: () => number,
  change: (owner: Owner) => Promise<Result<void, DiskTrouble>>,
): Promise<Result<void, DiskTrouble>> {
  const connected = await disk.connect()
  if (!connected.ok) return connected
  const found = await disk.readState()
  if (!found.ok) return found
  if (found.value && found.value.format > DISK_FORMAT) return err({ kind: 'superseded', reason: 'A newer format.' })
  const epoch = await disk.claim()
  return epoch.ok ? change({ disk, epoch: epoch.value, now }) : epoch
}

/**
 * Puts another database in the place of the stored one. It is written beside it, a little at a time, and one transaction at the
 * end makes it the current one; dying before that leaves the old one as it was. The old one is kept, so that this can be undone.
 * Nobody may write meanwhile, and the database has to be opened anew afterwards.
 */
export async function replaceStored(owner: Owner, image: Uint8Array): Promise<Result<void, DiskTrouble>> {
  const { disk, epoch } = owner
  const from = await stateToReplace(disk)
  if (!from.ok) return from
  const generation = Math.max(from.value.generation, from.value.previous?.generation ?? 0) + 1
  const discard = () => disk.write({ epoch, generation, durability: 'relaxed', dropGenerations: [generation] })

  // An earlier attempt may have died and left pieces behind.
  const cleared = await discard()
  if (!cleared.ok) return cleared
  const written = await writeImage(owner, generation, image)
  if (!written.ok) {
    await discard()
    return written
  }
  return switchTo(owner, from.value, { generation, head: 1, baseBytes: image.length })
}

/** Goes back to what was there before the last replacement. Doing it again goes forward once more. */
export async function undoReplace(owner: Owner): Promise<Result<void, DiskTrouble>> {
  const found = await owner.disk.readState()
  if (!found.ok) return found
  if (!found.value?.previous) return err({ kind: 'lost', reason: 'There is nothing to go back to.' })
  const { replacedAt: _, ...before } = found.value.previous
  return switchTo(owner, found.value, before)
}

/** Without a state nobody knows for certain what belongs together: all is kept, as the database from before. */
async function stateToReplace(disk: Disk): Promise<Result<DiskState, DiskTrouble>> {
  const found = await disk.readState()
  if (!found.ok) return found
  if (found.value) return ok(found.value)
  const guess = await guessGeneration(disk)
  return guess.ok ? ok({ format: DISK_FORMAT, ...guess.value, previous: null }) : guess
}

async function writeImage(owner: Owner, generation: number, image: Uint8Array): Promise<Result<void, DiskTrouble>> {
  const file = new FileMirror()
  file.load(0, image)
  const count = Math.ceil(image.length / EXTENT_BYTES)
  for (let first = 0; first < count; first += EXTENTS_PER_WRITE) {
    const indexes = Array.from({ length: Math.min(EXTENTS_PER_WRITE, count - first) }, (_, n) => first + n)
    const extents = indexes.map((index) => ({ index, bytes: extentAt(file, index) }))
    const written = await owner.disk.write({ epoch: owner.epoch, generation, durability: 'strict', extents })
    if (!written.ok) return written
  }
  return ok(undefined)
}

function switchTo({ disk, epoch, now }: Owner, from: DiskState, to: Generation): Promise<Result<void, DiskTrouble>> {
  const { previous, format, slotsSince, ...before } = from
  const ofAll = { format, ...(slotsSince !== undefined && { slotsSince }) }
  const state: DiskState = { ...ofAll, ...to, previous: { ...before, replacedAt: now() } }
  const forgotten = previous && previous.generation !== to.generation ? [previous.generation] : []
  return disk.write({ epoch, generation: to.generation, durability: 'strict', state, dropGenerations: forgotten })
}
