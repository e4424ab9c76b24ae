import { get, set } from 'idb-keyval'
import { createStrictStore } from '../strict-store.ts'
import type { Lock, SealedText } from './sealing.ts'

export interface SealedSecret {
  name: string
  /** Bound into the seal: a secret whose hosts were changed behind our back cannot be opened any more. */
  hosts: string[]
  value: SealedText
  createdAt: number
}

/** Lock and secrets are one value, so that a change of the lock and the re-sealing of everything are one write. */
export interface VaultDocument {
  lock: Lock
  secrets: SealedSecret[]
}

export interface VaultStorage {
  read(): Promise<VaultDocument | undefined>
  /** Resolves when it is kept. */
  write(document: VaultDocument): Promise<void>
}

export function createMemoryVaultStorage(): VaultStorage {
  let kept: VaultDocument | undefined
  return {
    read: () => Promise.resolve(kept),
    write: (document) => {
      kept = structuredClone(document)
      return Promise.resolve()
    },
  }
}

/** A database of its own: a backup of the engine's database must not hold secrets, not even sealed ones. */
export function createIndexedDbVaultStorage(databaseName: string, factory: IDBFactory = indexedDB): VaultStorage {
  const store = createStrictStore(databaseName, factory)
  return {
    read: () => get<VaultDocument>('vault', store),
    write: (document) => set('vault', document, store),
  }
}
