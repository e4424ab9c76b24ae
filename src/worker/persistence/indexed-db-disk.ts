import { err, ok, type Result } from '#engine/model/result.ts'
import type { Disk, DiskState, DiskTrouble, DiskWrite, Epoch, StoredPiece } from './disk.ts'

const SCHEMA_VERSION = 1
const STORES = ['meta', 'base', 'log'] as const
type StoreName = (typeof STORES)[number]
/** Extents are read in portions: one request a piece is slow, one request for all holds the database twice. */
const PIECES_PER_READ = 64

const troubleByErrorName: Partial<Record<string, DiskTrouble['kind']>> = {
  QuotaExceededError: 'full',
  VersionError: 'superseded',
}

const troubleOf = (error: unknown): DiskTrouble => {
  const { name, message } = error instanceof Error || error instanceof DOMException ? error : new Error(String(error))
  return { kind: troubleByErrorName[name] ?? 'lost', reason: `${name}: ${message}` }
}

const answerOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => {
      resolve(request.result)
    }
    request.onerror = () => {
      reject(request.error ?? new Error('The request failed without a reason.'))
    }
  })

/** `complete` and nothing earlier: a request that succeeded may still be rolled back. */
const endOf = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => {
      resolve()
    }
    transaction.onabort = () => {
      reject(transaction.error ?? new DOMException('The transaction was aborted.', 'AbortError'))
    }
  })

const all = (generation: number) => IDBKeyRange.bound([generation], [generation, []])

export class IndexedDbDisk implements Disk {
  readonly #name: string
  readonly #factory: IDBFactory
  #connection: IDBDatabase | null = null
  #isSuperseded = false
  onLost: ((trouble: DiskTrouble) => void) | null = null

  constructor(name: string, factory: IDBFactory) {
    this.#name = name
    this.#factory = factory
  }

  connect(): Promise<Result<void, DiskTrouble>> {
    return this.#attempt(async () => {
      if (this.#connection) return
      const request = this.#factory.open(this.#name, SCHEMA_VERSION)
      request.onupgradeneeded = () => {
        for (const name of STORES) request.result.createObjectStore(name)
      }
      const connection = await answerOf(request)
      connection.onclose = () => {
        this.#lose('lost', 'The browser closed the connection to the stored data.')
      }
      // Not closing would block the newer version; a transaction under way still completes.
      connection.onversionchange = () => {
        connection.close()
        this.#lose('superseded', 'Another tab runs a newer version of this program.')
      }
      this.#connection = connection
    })
  }

  claim(): Promise<Result<Epoch, DiskTrouble>> {
    return this.#attempt(async () => {
      const transaction = this.#begin(['meta'], 'readwrite', 'strict')
      const done = endOf(transaction)
      const meta = transaction.objectStore('meta')
      let epoch = 0
      const read = meta.get('epoch') as IDBRequest<Epoch | undefined>
      read.onsuccess = () => {
        epoch = (read.result ?? 0) + 1
        meta.put(epoch, 'epoch')
      }
      await done
      return epoch
    })
  }

  readState(): Promise<Result<DiskState | null, DiskTrouble>> {
    return this.#attempt(async () => (await this.#readMeta<DiskState>('state')) ?? null)
  }

  readEpoch(): Promise<Result<Epoch, DiskTrouble>> {
    return this.#attempt(async () => (await this.#readMeta<Epoch>('epoch')) ?? 0)
  }

  readExtents(generation: number, onPiece: (piece: StoredPiece) => void): Promise<Result<void, DiskTrouble>> {
    return this.#readPieces('base', generation, 0, onPiece)
  }

  readRecords(
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): Promise<Result<void, DiskTrouble>> {
    return this.#readPieces('log', generation, from, onPiece)
  }

  write(write: DiskWrite): Promise<Result<void, DiskTrouble>> {
    let fencedBy: Epoch | undefined
    const attempt = this.#attempt(async () => {
      const transaction = this.#begin(storesOf(write), 'readwrite', write.durability)
      const done = endOf(transaction)
      const owner = transaction.objectStore('meta').get('epoch') as IDBRequest<Epoch | undefined>
      // The writes are queued behind this question without waiting for its answer. That is safe: a transaction cannot commit
      // before this handler has run, and an abort takes everything back.
      owner.onsuccess = () => {
        if (owner.result === write.epoch) return
        fencedBy = owner.result ?? 0
        transaction.abort()
      }
      queueWrites(transaction, write)
      await done
    })
    return attempt.then((result) =>
      fencedBy === undefined
        ? result
        : err({ kind: 'fenced', reason: `Epoch ${write.epoch} was overtaken by epoch ${fencedBy}.` } as const),
    )
  }

  close(): void {
    this.#connection?.close()
    this.#connection = null
  }

  async #readMeta<T>(key: string): Promise<T | undefined> {
    return answerOf(this.#begin(['meta'], 'readonly').objectStore('meta').get(key) as IDBRequest<T | undefined>)
  }

  #readPieces(
    store: StoreName,
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): Promise<Result<void, DiskTrouble>> {
    return this.#attempt(async () => {
      const pieces = this.#begin([store], 'readonly').objectStore(store)
      let next: IDBValidKey = [generation, from]
      for (let isOpen = false; ; isOpen = true) {
        const range = IDBKeyRange.bound(next, [generation, []], isOpen)
        const [keys, values] = await Promise.all([
          answerOf(pieces.getAllKeys(range, PIECES_PER_READ)),
          answerOf(pieces.getAll(range, PIECES_PER_READ) as IDBRequest<ArrayBuffer[]>),
        ])
        for (const [position, key] of keys.entries()) {
          const bytes = values[position]
          if (bytes) onPiece({ index: (key as [number, number])[1], bytes })
        }
        const last = keys.at(-1)
        if (last === undefined || keys.length < PIECES_PER_READ) return
        next = last
      }
    })
  }

  #begin(stores: readonly StoreName[], mode: IDBTransactionMode, durability: IDBTransactionDurability = 'default') {
    if (!this.#connection) throw new DOMException('There is no connection to the stored data.', 'InvalidStateError')
    // eslint-disable-next-line no-restricted-syntax -- IndexedDB's own transaction, not the store's
    return this.#connection.transaction(stores as StoreName[], mode, { durability })
  }

  async #attempt<T>(work: () => Promise<T>): Promise<Result<T, DiskTrouble>> {
    try {
      return ok(await work())
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble.kind === 'lost') this.close()
      return err(this.#isSuperseded ? { ...trouble, kind: 'superseded' } : trouble)
    }
  }

  #lose(kind: DiskTrouble['kind'], reason: string): void {
    this.#connection = null
    this.#isSuperseded = kind === 'superseded'
    this.onLost?.({ kind, reason })
  }
}

function storesOf(write: DiskWrite): StoreName[] {
  const touchesBase = write.extents !== undefined || write.dropExtentsFrom !== undefined
  if (touchesBase || write.dropGenerations) return ['meta', 'base', 'log']
  return ['meta', 'log']
}

function queueWrites(transaction: IDBTransaction, write: DiskWrite): void {
  const { generation } = write
  const meta = transaction.objectStore('meta')
  const log = transaction.objectStore('log')
  for (const { index, bytes } of write.records ?? []) log.put(bytes, [generation, index])
  if (write.dropRecordsBefore !== undefined) {
    log.delete(IDBKeyRange.bound([generation], [generation, write.dropRecordsBefore], false, true))
  }
  if (write.state) meta.put(write.state, 'state')
  // Only a transaction that writes is synced: a barrier with nothing left to write makes durable what went before it.
  if (write.durability === 'strict' && !write.records?.length && !write.state) meta.put(write.epoch, 'synced')
  if (!transaction.objectStoreNames.contains('base')) return
  const base = transaction.objectStore('base')
  for (const { index, bytes } of write.extents ?? []) base.put(bytes, [generation, index])
  if (write.dropExtentsFrom !== undefined) {
    base.delete(IDBKeyRange.bound([generation, write.dropExtentsFrom], [generation, []]))
  }
  for (const dropped of write.dropGenerations ?? []) {
    base.delete(all(dropped))
    log.delete(all(dropped))
  }
}
