import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import initSqlJs, { type Database } from 'sql.js'
import sqliteWasmUrl from 'sql.js/dist/sql-wasm-browser.wasm?url'
import type { EngineApi } from './api.ts'
import { version } from './version.ts'

/** The composition root: the only place that knows every adapter. Never rejects, so that no caller hangs on a bad start. */
export async function openEngine(): Promise<Result<EngineApi>> {
  try {
    const { Database } = await initSqlJs({ locateFile: () => sqliteWasmUrl })
    return ok(createEngineApi(readSqliteVersion(new Database())))
  } catch (cause) {
    return err(engineError('storage', `The database could not be opened: ${String(cause)}`))
  }
}

function createEngineApi(sqliteVersion: string): EngineApi {
  return {
    engineInfo: () =>
      Promise.resolve(
        ok({
          version,
          role: 'leader',
          state: 'running',
          epoch: 0,
          lastRecovery: null,
          nextWakeAt: null,
          sqliteVersion,
        }),
      ),
  }
}

function readSqliteVersion(database: Database): string {
  const [result] = database.exec('SELECT sqlite_version()')
  return String(result?.values[0]?.[0])
}
