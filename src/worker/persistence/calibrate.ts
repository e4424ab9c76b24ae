import type { Database, SqlJsStatic } from 'sql.js'
import { PAGE_BYTES } from './dirty-lines.ts'
import { capturePragmas } from './capture-pragmas.ts'
import { gather, isFileName, textAt } from './wasm-arguments.ts'
import type { WatchedImports } from './watched-imports.ts'

/** The names that this build gives to the four calls through which the main file is changed. */
export interface FileCalls {
  open: string
  seek: string
  write: string
  truncate: string
}

interface TracedCall {
  name: string
  args: unknown[]
  result: unknown
  paths: string[]
  /** What a write would take from memory, copied before the call ran. */
  bytes: Uint8Array | undefined
}

/** Throws with the reason when a call cannot be told apart for certain. */
export function calibrate(sqlite: SqlJsStatic, imports: WatchedImports): FileCalls {
  const pattern = crypto.getRandomValues(new Uint8Array(48))
  const { trace, filename, bytesAtEnd } = traceThrowAway(sqlite, imports, pattern)
  const opened = trace.filter(
    ({ paths, result }) =>
      typeof result === 'number' && result >= 3 && paths.some((path) => isFileName(path, filename)),
  )
  const open = theOnly('open', opened)
  const ofFile = trace.filter(({ args }) => args[0] === opened[0]?.result)
  const writes = ofFile.filter(({ args, bytes }) => args.length === 4 && bytes && indexOfBytes(bytes, pattern) >= 0)
  const write = theOnly('write', writes)
  const before = ofFile.filter((_, index) => ofFile[index + 1]?.name === write)
  const seek = theOnly('seek', before)
  const seeksPages = before.every(({ args }) => args.length === 4 && isPageStart(args[1]) && args[2] === 0)
  if (!seeksPages) throw new Error('The call before each write does not look like a seek.')
  const cuts = ofFile.filter(({ args }) => args.length === 2 && args[1] === BigInt(bytesAtEnd))
  return { open, seek, write, truncate: theOnly('truncate', cuts) }
}

function traceThrowAway(sqlite: SqlJsStatic, imports: WatchedImports, pattern: Uint8Array) {
  const trace: TracedCall[] = []
  const unwatch = imports.names.map((name) =>
    imports.watch(name, (args, call) => {
      const { memory } = imports
      const paths = args.map((arg) => textAt(memory, arg)).filter((text) => text !== undefined)
      const bytes = gather(memory, args[1], args[2])?.slice()
      const result = call()
      trace.push({ name, args, result, paths, bytes })
      return result
    }),
  )
  const database = new sqlite.Database()
  try {
    const bytesAtEnd = exerciseFile(database, pattern)
    return { trace, filename: filenameOf(database), bytesAtEnd }
  } finally {
    for (const stop of unwatch) stop()
    database.close()
  }
}

/** Writes, grows and shrinks the file. Returns its length at the end. */
function exerciseFile(database: Database, pattern: Uint8Array): number {
  database.run(capturePragmas)
  database.run('CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)')
  database.run('INSERT INTO t (b) VALUES (?)', [pattern])
  database.run(
    'INSERT INTO t (b) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64) SELECT zeroblob(2000) FROM n',
  )
  database.run('DELETE FROM t WHERE id > 1')
  database.run('VACUUM')
  const pages = database.exec('PRAGMA page_count')[0]?.values[0]?.[0]
  return Number(pages) * PAGE_BYTES
}

/** Public in sql.js, absent from its types. */
export const filenameOf = (database: Database): string => (database as Database & { filename: string }).filename

function theOnly(what: string, calls: TracedCall[]): string {
  const names = new Set(calls.map(({ name }) => name))
  const [name] = names
  if (name === undefined || names.size > 1) {
    throw new Error(
      `${names.size} imports of this sql.js build look like the one that does "${what}"; exactly one must.`,
    )
  }
  return name
}

const isPageStart = (offset: unknown) => typeof offset === 'bigint' && offset % BigInt(PAGE_BYTES) === 0n

function indexOfBytes(haystack: Uint8Array, needle: Uint8Array): number {
  const first = needle[0] ?? 0
  for (let at = haystack.indexOf(first); at >= 0; at = haystack.indexOf(first, at + 1)) {
    if (needle.every((byte, index) => haystack[at + index] === byte)) return at
  }
  return -1
}
