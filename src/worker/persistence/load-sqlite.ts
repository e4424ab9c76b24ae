import type { InitSqlJsStatic, SqlJsStatic } from 'sql.js'
import { calibrate } from './calibrate.ts'
import { capturePragmas } from './capture-pragmas.ts'
import { proveTap } from './prove-tap.ts'
import { WatchedImports } from './watched-imports.ts'
import { WriteTap, type Tap } from './write-tap.ts'

export interface Sqlite {
  sqlJs: SqlJsStatic
  /** Null when this build of sql.js did not pass: changes are then found by comparing pages, which is slower but no less safe. */
  tap: Tap | null
  /** Why there is no tap. */
  tapFailure: string | null
  /** The one page of a database in which nothing was ever created. */
  emptyImage: Uint8Array
}

/** sql.js can be instantiated once per realm: call this once. */
export async function loadSqlite(options: {
  initSqlJs: InitSqlJsStatic
  compile: () => Promise<WebAssembly.Module>
  imports?: WatchedImports
}): Promise<Sqlite> {
  const { imports = new WatchedImports() } = options
  const module = await options.compile()
  const sqlJs = await new Promise<SqlJsStatic>((resolve, reject) => {
    const instantiateWasm = (given: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => {
      imports.instantiate(module, given).then(done, reject)
      return {}
    }
    options.initSqlJs({ instantiateWasm }).then(resolve, reject)
  })
  const emptyImage = createEmptyImage(sqlJs)
  try {
    const tap = new WriteTap(imports, calibrate(sqlJs, imports))
    proveTap(sqlJs, tap, emptyImage)
    return { sqlJs, tap, tapFailure: null, emptyImage }
  } catch (error) {
    return { sqlJs, tap: null, tapFailure: error instanceof Error ? error.message : String(error), emptyImage }
  }
}

function createEmptyImage(sqlJs: SqlJsStatic): Uint8Array {
  const database = new sqlJs.Database()
  database.run(capturePragmas)
  database.run('VACUUM')
  const image = database.export()
  database.close()
  return image
}
