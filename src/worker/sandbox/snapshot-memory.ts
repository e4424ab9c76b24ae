import { err, ok } from '#engine/model/result.ts'
import { loadScript, type CleanMemory } from './clean-memory.ts'
import { createFreshMemory } from './fresh-memory.ts'
import { createGuest, type Guest } from './guest.ts'
import { createImageCache, type ImageCache } from './image-cache.ts'
import { captureImage, probeLayout, restoreImage, stackPointerOf, type MemoryImage } from './linear-memory.ts'
import { createQuickjsInstance } from './quickjs-instance.ts'

const IMAGE_BUDGET_BYTES = 32 * 1024 * 1024

/** An instance and what its memory can be put back to. Images are good for the instance they were made of and no other. */
interface Station {
  guest: Guest
  base: MemoryImage
  images: ImageCache
  /** The image it was last put back to, and whether its memory still is that image. */
  image: MemoryImage
  isClean: boolean
}

export interface SnapshotOptions {
  imageBudgetBytes?: number
}

/**
 * Instances are kept, and their memory is put back to the moment after the script was evaluated. What belongs to an
 * instance outside its linear memory is either the same at every such moment (the handles of the prelude and the one host
 * function, all made before the first image) or checked (the stack pointer).
 */
export async function createSnapshotMemory(
  wasm: WebAssembly.Module,
  { imageBudgetBytes = IMAGE_BUDGET_BYTES }: SnapshotOptions = {},
): Promise<CleanMemory> {
  const layout = await probeLayout(wasm)
  if (layout === undefined) return createFreshMemory(wasm)
  const idle: Station[] = []
  const lent = new Map<Guest, Station>()

  const createStation = async (): Promise<Station> => {
    const guest = createGuest(await createQuickjsInstance(wasm))
    const base = captureImage(guest.instance, layout)
    return { guest, base, images: createImageCache(imageBudgetBytes), image: base, isClean: true }
  }

  const putBack = (station: Station, image: MemoryImage): void => {
    if (!station.isClean || station.image !== image) restoreImage(station.guest.instance, layout, image)
    station.image = image
    station.isClean = true
  }

  /** One that knows the script, if there is one. */
  const pick = async (key: string | null): Promise<Station> => {
    const knowing = key === null ? -1 : idle.findIndex(({ images }) => images.get(key) !== undefined)
    const [station] = idle.splice(knowing, 1)
    return station ?? (await createStation())
  }

  const takeBack = (station: Station, isIntact: boolean): void => {
    if (isIntact && stackPointerOf(station.guest.instance) === layout.stackTop) idle.push(station)
  }

  return {
    async lend(script, limits, evaluated) {
      const { id, operations = [] } = script
      const key = id === null ? null : `${id} ${operations.join(' ')}`
      const station = await pick(key)
      const { guest, base, images } = station
      const image = key === null ? undefined : images.get(key)
      putBack(station, image ?? base)
      station.isClean = false
      if (image === undefined) {
        const { failure, isIntact } = loadScript(guest, script, limits)
        if (failure !== undefined) {
          takeBack(station, isIntact)
          return err(failure)
        }
        if (key !== null) {
          station.image = captureImage(guest.instance, layout)
          images.put(key, station.image)
        }
        evaluated?.()
      }
      guest.setLimits(limits)
      lent.set(guest, station)
      return ok(guest)
    },

    takeBack(guest, isIntact) {
      const station = lent.get(guest)
      lent.delete(guest)
      if (station !== undefined) takeBack(station, isIntact)
    },

    tidy() {
      // To what it held last: the same script is the likeliest to come next.
      for (const station of idle) putBack(station, station.image)
    },
  }
}
