import { createQuickjsInstance, type QuickjsInstance } from './quickjs-instance.ts'

const MiB = 1024 * 1024

/** How QuickJS lays out its memory: static data, then the stack growing down, then the heap growing up. */
export interface MemoryLayout {
  /** End of the static data, and the deepest place the stack can reach. */
  stackBottom: number
  /** Where the stack pointer rests between two calls; the heap begins right after it. */
  stackTop: number
  /** Address of the word that holds the end of the heap. It only ever rises: nothing above it was ever written. */
  heapEndCell: number
}

/** A copy of all that matters of a linear memory: static data and heap. The stack is empty whenever one is made. */
export interface MemoryImage {
  statics: Uint8Array
  heap: Uint8Array
  bytes: number
}

/** `emscripten_stack_get_current` under its minified name, as of quickjs-wasmfile-release-sync 0.32.0. The probe checks it. */
const STACK_POINTER_EXPORT = 'Oa'
/** What that build was linked with. The probe checks that it can be true. */
const STACK_BYTES = 5 * MiB
/** Cleared every time. Scripts have 128 KiB, native functions a little more; what lies deeper is looked at. */
const STACK_WINDOW_BYTES = 256 * 1024
const WATCHED_BYTES = 4096
const PROBE_BYTES = 3 * MiB

/** A build that does not have the export has no place for its stack pointer either, and is not snapshot. */
export function stackPointerOf({ exports }: QuickjsInstance): number {
  const read = exports[STACK_POINTER_EXPORT] as (() => number) | undefined
  return typeof read === 'function' ? read() : -1
}

function isZero(words: Uint32Array): boolean {
  for (const word of words) if (word !== 0) return false
  return true
}

/**
 * Finds the layout out by watching an instance that is thrown away: a big allocation moves the end of the heap and
 * little else. Undefined when the build is not what we know, in which case nobody should copy its memory about.
 */
export async function probeLayout(wasm: WebAssembly.Module): Promise<MemoryLayout | undefined> {
  const instance = await createQuickjsInstance(wasm)
  const words = new Uint32Array(instance.memory.buffer)
  const stackTop = stackPointerOf(instance)
  const stackBottom = stackTop - STACK_BYTES
  const firstBlock = instance.malloc(16)
  if (stackBottom <= 0 || firstBlock <= stackTop || firstBlock > stackTop + 65_536) return undefined
  if (!isZero(words.subarray(stackBottom / 4, (stackTop - STACK_WINDOW_BYTES) / 4))) return undefined

  const before = words.slice(0, stackBottom / 4)
  const blockEnd = instance.malloc(PROBE_BYTES) + PROBE_BYTES
  let heapEndCell: number | undefined
  for (const [index, old] of before.entries()) {
    const now = words[index] ?? 0
    const isHeapEnd = old > firstBlock && old < blockEnd && now > blockEnd && now < blockEnd + 65_536
    if (!isHeapEnd) continue
    if (heapEndCell !== undefined) return undefined
    heapEndCell = index * 4
  }
  return heapEndCell === undefined ? undefined : { stackBottom, stackTop, heapEndCell }
}

function heapEndOf(memory: WebAssembly.Memory, { heapEndCell }: MemoryLayout): number {
  return new Uint32Array(memory.buffer, heapEndCell, 1)[0] ?? 0
}

export function captureImage({ memory }: QuickjsInstance, layout: MemoryLayout): MemoryImage {
  const bytes = new Uint8Array(memory.buffer)
  const statics = bytes.slice(0, layout.stackBottom)
  const heap = bytes.slice(layout.stackTop, heapEndOf(memory, layout))
  return { statics, heap, bytes: statics.length + heap.length }
}

/** Afterwards the memory is what it was when the image was made, to the last byte. */
export function restoreImage({ memory }: QuickjsInstance, layout: MemoryLayout, image: MemoryImage): void {
  const bytes = new Uint8Array(memory.buffer)
  const { stackBottom, stackTop } = layout
  const imageEnd = stackTop + image.heap.length
  const heapEnd = heapEndOf(memory, layout)
  // A script that could corrupt its memory could also lie about the end of its heap.
  const dirtyEnd = heapEnd >= imageEnd && heapEnd <= bytes.length ? heapEnd : bytes.length

  bytes.set(image.statics, 0)
  const windowStart = stackTop - STACK_WINDOW_BYTES
  const isDeeper = !isZero(new Uint32Array(memory.buffer, windowStart - WATCHED_BYTES, WATCHED_BYTES / 4))
  bytes.fill(0, isDeeper ? stackBottom : windowStart, stackTop)
  bytes.set(image.heap, stackTop)
  bytes.fill(0, imageEnd, dirtyEnd)
}
