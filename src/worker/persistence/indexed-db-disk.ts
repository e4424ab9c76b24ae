import { err, ok, type Result } from '#engine/model/result.ts'
import type { Disk, DiskState, DiskTrouble, DiskWrite, Epoch, StoredPiece } from './disk.ts'

const SCHEMA_VERSION = 1
const STORES = ['meta', 'base', 'log'] as const
type StoreName = (typeof STORES)[number]
/** Extents are read in portions: one request a piece is slow, one request for all holds the database twice. */
const PIECES_PER_READ = 64

const troubleByErrorName: Partial<Record<string, DiskTrouble['kind']>> = {
  // Nothing else here can violate a constraint: the key of a successor is there.
  ConstraintError: 'fenced',
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

const ownerKey = (epoch: Epoch): IDBValidKey => ['owner', epoch]
const isTaken = (error: unknown) => error instanceof Error && error.name === 'ConstraintError'
/** An owner that was overtaken a thousand times is not coming back. */
const OWNERS_REMEMBERED = 1000
const all = (generation: number) => IDBKeyRange.bound([generation], [generation, []])

/**
 * No transaction here waits for an answer before it goes on: all requests are made at once and `commit()` is called, so that from
 * there on the browser needs nothing from us. A tab that is frozen in the middle of a transaction would otherwise keep the stores
 * locked, and its successor could never open them.
 *
 * Therefore the epoch is not compared by us either. An owner leaves the key ['owner', epoch]; whoever writes adds the key of its
 * own successor and takes it away again. If the successor is there already, adding fails, and with it the whole transaction.
 */
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
      // Not closing would block the other; a transaction under way still completes.
      connection.onversionchange = ({ newVersion }) => {
        connection.close()
        if (newVersion === null) this.#lose('deleted', 'The stored data was deleted.')
        else this.#lose('superseded', 'Another tab runs a newer version of this program.')
      }
      this.#connection = connection
    })
  }

  claim(least: Epoch = 1): Promise<Result<Epoch, DiskTrouble>> {
    return this.#attempt(async () => {
      for (;;) {
        const epoch = Math.max(((await this.#readMeta<Epoch>('epoch')) ?? 0) + 1, least)
        try {
          await this.#transact(['meta'], 'strict', (transaction) => {
            const meta = transaction.objectStore('meta')
            meta.add(epoch, ownerKey(epoch))
            meta.put(epoch, 'epoch')
            meta.delete(IDBKeyRange.bound(ownerKey(-Infinity), ownerKey(epoch - OWNERS_REMEMBERED)))
          })
          return epoch
        } catch (error) {
          // Two tabs claimed at the same time and the other was faster: this one comes after it.
          if (!isTaken(error)) throw error
        }
      }
    })
  }

  readState(): Promise<Result<DiskState | null, DiskTrouble>> {
    return this.#attempt(async () => (await this.#readMeta<DiskState>('state')) ?? null)
  }

  readEpoch(): Promise<Result<Epoch, DiskTrouble>> {
    return this.#attempt(async () => (await this.#readMeta<Epoch>('epoch')) ?? 0)
  }

  newestGeneration(): Promise<Result<number, DiskTrouble>> {
    return this.#attempt(async () => {
      const newestIn = async (store: StoreName): Promise<number> => {
        const ask = (pieces: IDBObjectStore) => [pieces.openKeyCursor(null, 'prev') as IDBRequest<unknown>]
        const [newest] = (await this.#read(store, ask)) as [{ key: [number, number] } | null]
        return newest?.key[0] ?? 0
      }
      return Math.max(await newestIn('base'), await newestIn('log'))
    })
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
    return this.#attempt(() =>
      this.#transact(storesOf(write), write.durability, (transaction) => {
        const meta = transaction.objectStore('meta')
        meta.add(0, ownerKey(write.epoch + 1))
        meta.delete(ownerKey(write.epoch + 1))
        queueWrites(transaction, write)
      }),
    )
  }

  close(): void {
    this.#connection?.close()
    this.#connection = null
  }

  async #readMeta<T>(key: string): Promise<T | undefined> {
    const [value] = await this.#read('meta', (store) => [store.get(key) as IDBRequest<unknown>])
    return value as T | undefined
  }

  /**
   * In portions, the next one being fetched while this one is worked on. Each is its own transaction: the owner is the only
   * writer, so nothing changes in between.
   */
  #readPieces(
    store: StoreName,
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): Promise<Result<void, DiskTrouble>> {
    return this.#attempt(async () => {
      for (let start: number | undefined = from; start !== undefined;) {
        const end = await this.#readRow(store, generation, start, onPiece)
        // Whatever lies behind a gap is handed over as well: its numbers will show the gap.
        const [next] = (await this.#read(store, (pieces) => [
          pieces.getAllKeys(IDBKeyRange.bound([generation, end], [generation, []]), 1) as IDBRequest<unknown>,
        ])) as [[number, number][]]
        start = next[0]?.[1]
      }
    })
  }

  /** Reads until a portion has a gap. Returns where the next one would begin. */
  async #readRow(
    store: StoreName,
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): Promise<number> {
    let ahead = this.#readPortion(store, generation, from)
    for (let start = from + PIECES_PER_READ; ; start += PIECES_PER_READ) {
      const portion = await ahead
      const isFull = portion.length === PIECES_PER_READ
      if (isFull) ahead = this.#readPortion(store, generation, start)
      for (const piece of portion) onPiece(piece)
      if (!isFull) return start
    }
  }

  async #readPortion(store: StoreName, generation: number, from: number): Promise<StoredPiece[]> {
    const range = IDBKeyRange.bound([generation, from], [generation, from + PIECES_PER_READ], false, true)
    const [keys, values] = (await this.#read(store, (pieces) => [
      pieces.getAllKeys(range) as IDBRequest<unknown>,
      pieces.getAll(range) as IDBRequest<unknown>,
    ])) as [[number, number][], ArrayBuffer[]]
    return keys.map(([, index], n) => ({ index, bytes: values[n] ?? new ArrayBuffer(0) }))
  }

  /** Waits for each answer, not for the end of the transaction: Chromium reports that before it has fetched large values. */
  #read(store: StoreName, ask: (store: IDBObjectStore) => IDBRequest<unknown>[]): Promise<unknown[]> {
    const transaction = this.#begin([store], 'readonly', 'default')
    const answers = Promise.all(ask(transaction.objectStore(store)).map((request) => answerOf(request)))
    transaction.commit()
    return answers
  }

  async #transact(
    stores: StoreName[],
    durability: IDBTransactionDurability,
    queueRequests: (transaction: IDBTransaction) => void,
  ): Promise<void> {
    const transaction = this.#begin(stores, 'readwrite', durability)
    const done = endOf(transaction)
    queueRequests(transaction)
    transaction.commit()
    await done
  }

  #begin(stores: StoreName[], mode: IDBTransactionMode, durability: IDBTransactionDurability): IDBTransaction {
    if (!this.#connection) throw new DOMException('There is no connection to the stored data.', 'InvalidStateError')
    // eslint-disable-next-line no-restricted-syntax -- IndexedDB's own transaction, not the store's
    return this.#connection.transaction(stores, mode, { durability })
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
