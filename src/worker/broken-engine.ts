import { engineError, type EngineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { EngineApi } from './api.ts'
import { IndexedDbDisk } from './persistence/indexed-db-disk.ts'
import { salvage } from './persistence/read-stored.ts'

type Method = () => Promise<Result<unknown>>

/**
 * Stands in for an engine that cannot be opened: every call is answered with the reason, except that what is stored can still be
 * got out, as far as it can be read.
 */
export function createBrokenApi(error: EngineError, databaseName: string): EngineApi {
  const answers: Record<string, Method> = { exportDatabase: () => exportWhatIsThere(databaseName) }
  const methodOf = (name: PropertyKey): Method =>
    (typeof name === 'string' && Object.hasOwn(answers, name) ? answers[name] : undefined) ??
    (() => Promise.resolve(err(error)))
  return new Proxy({} as EngineApi, {
    get: (_, name) => methodOf(name),
    // The relay looks for methods of the object itself, so that nobody can call what it inherits.
    getOwnPropertyDescriptor: (_, name) => ({
      value: methodOf(name),
      configurable: true,
      enumerable: true,
      writable: true,
    }),
  })
}

async function exportWhatIsThere(databaseName: string): Promise<Result<Uint8Array>> {
  const disk = new IndexedDbDisk(databaseName, indexedDB)
  try {
    const found = await salvage(disk)
    return found.ok ? ok(found.value) : err(engineError('storage', `Nothing could be read: ${found.error.reason}`))
  } finally {
    disk.close()
  }
}
