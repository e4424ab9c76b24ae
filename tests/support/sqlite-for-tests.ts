import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import initSqlJs from 'sql.js'
import { loadSqlite, type Sqlite } from '#worker/persistence/load-sqlite.ts'
import { WatchedImports } from '#worker/persistence/watched-imports.ts'

const imports = new WatchedImports()
let loading: Promise<Sqlite> | undefined

/** The real sql.js with its write tap; instantiated once per test file, as in a worker. */
export const sqliteForTests = (): Promise<Sqlite> =>
  (loading ??= loadSqlite({
    initSqlJs,
    imports,
    compile: async () => {
      const path = createRequire(import.meta.url).resolve('sql.js/dist/sql-wasm.wasm')
      return WebAssembly.compile(await readFile(path))
    },
  }))

/** The same sql.js as if it had not passed calibration. */
export const untappedSqliteForTests = async (): Promise<Sqlite> => ({
  ...(await sqliteForTests()),
  tap: null,
  tapFailure: 'switched off for this test',
})

export const importsForTests = async (): Promise<WatchedImports> => {
  await sqliteForTests()
  return imports
}
