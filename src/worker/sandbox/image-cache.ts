import type { MemoryImage } from './linear-memory.ts'

/** The images used last, within a budget of bytes. */
export interface ImageCache {
  get(scriptId: string): MemoryImage | undefined
  put(scriptId: string, image: MemoryImage): void
  readonly bytes: number
}

export function createImageCache(budgetBytes: number): ImageCache {
  // A Map remembers the order of insertion: the first is the one unused for longest.
  const images = new Map<string, MemoryImage>()
  let bytes = 0

  return {
    get bytes() {
      return bytes
    },
    get(scriptId) {
      const image = images.get(scriptId)
      if (image === undefined) return undefined
      images.delete(scriptId)
      images.set(scriptId, image)
      return image
    },
    put(scriptId, image) {
      bytes += image.bytes - (images.get(scriptId)?.bytes ?? 0)
      images.delete(scriptId)
      images.set(scriptId, image)
      for (const [oldest, { bytes: freed }] of images) {
        if (bytes <= budgetBytes) return
        images.delete(oldest)
        bytes -= freed
      }
    },
  }
}
