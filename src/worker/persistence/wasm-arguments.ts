/** What the arguments of a file call point at in the module's memory. */

const decoder = new TextDecoder()
const LONGEST_PATH = 512

/** The string at `pointer`, or nothing when there is none that could be a path. */
export function textAt(memory: Uint8Array, pointer: unknown): string | undefined {
  if (typeof pointer !== 'number' || pointer <= 0 || pointer >= memory.length) return undefined
  const end = memory.indexOf(0, pointer)
  if (end < 0 || end - pointer > LONGEST_PATH) return undefined
  return decoder.decode(memory.subarray(pointer, end))
}

const word = (memory: Uint8Array, at: number) => new DataView(memory.buffer).getUint32(at, true)

/** The bytes that a list of (pointer, length) pairs names; a view when there is one pair, as SQLite has it. */
export function gather(memory: Uint8Array, pairs: unknown, count: unknown): Uint8Array | undefined {
  if (typeof pairs !== 'number' || typeof count !== 'number' || count < 1 || count > 64) return undefined
  if (pairs <= 0 || pairs + count * 8 > memory.length) return undefined
  const parts: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const from = word(memory, pairs + index * 8)
    const length = word(memory, pairs + index * 8 + 4)
    if (from + length > memory.length) return undefined
    parts.push(memory.subarray(from, from + length))
  }
  const [only] = parts
  if (only && parts.length === 1) return only
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

export const isFileName = (path: string | undefined, filename: string): boolean =>
  path?.slice(path.lastIndexOf('/') + 1) === filename
