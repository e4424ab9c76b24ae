import type { KeyValue } from '../key-value.ts'
import type { Folder } from './folder.ts'

/** A file by its content; null when there is none. */
export type Print = string | null
export type Prints = Record<string, Print>

/** What a mutation found and what it is going to leave behind: enough to see afterwards whether it happened. */
export interface Intent {
  key: string
  before: Prints
  after: Prints
}

export interface Journal {
  /** Durable before the first byte is written. */
  record(intent: Intent): Promise<void>
  find(key: string): Promise<Intent | undefined>
  /** What was attempted before cannot be expected to be in it: a browser may throw away what it stores. */
  readonly begunAt: Promise<number>
}

const ENTRY = 'intents'
const BEGUN = 'begun'
const KEPT_INTENTS = 1_000

export function createJournal(storage: KeyValue, now: () => number): Journal {
  const read = (text: string | undefined): Intent[] => (text === undefined ? [] : (JSON.parse(text) as Intent[]))
  const begin = async (): Promise<number> => {
    const isInUse = (await storage.get(ENTRY)) !== undefined
    let begunAt = 0
    await storage.update(BEGUN, (old) => {
      begunAt = old === undefined ? (isInUse ? 0 : now()) : Number(old)
      return String(begunAt)
    })
    return begunAt
  }
  const begunAt = begin()
  // Whoever needs it is told; nobody has to.
  begunAt.catch(() => undefined)
  return {
    begunAt,
    record: (intent) =>
      storage.update(ENTRY, (old) => {
        const others = read(old).filter(({ key }) => key !== intent.key)
        return JSON.stringify([...others, intent].slice(-KEPT_INTENTS))
      }),
    find: async (key) => read(await storage.get(ENTRY)).find((intent) => intent.key === key),
  }
}

export type Finding = 'applied' | 'not_applied' | 'changed_since'

/**
 * A move that was cut in half (both files there) counts as not applied: doing it again finishes it. So does an empty file
 * where there was none: browsers make it before they write, and a tab that dies in between leaves it behind.
 */
export function compare({ before, after }: Pick<Intent, 'before' | 'after'>, current: Prints): Finding {
  const paths = Object.keys(after)
  const isUntouched = (path: string) =>
    current[path] === before[path] || (before[path] === null && (current[path]?.startsWith('0:') ?? false))
  if (paths.every((path) => current[path] === after[path])) return 'applied'
  if (paths.every((path) => isUntouched(path) || current[path] === after[path])) return 'not_applied'
  return 'changed_since'
}

export async function printOf(bytes: Uint8Array<ArrayBuffer> | undefined): Promise<Print> {
  if (!bytes) return null
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `${bytes.length}:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

export async function printsOf(folder: Folder, paths: readonly string[]): Promise<Prints> {
  const prints: Prints = {}
  for (const path of paths) prints[path] = await printOf(await folder.read(path))
  return prints
}
