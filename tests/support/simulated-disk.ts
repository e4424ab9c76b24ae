import { err, ok, type Result } from '#engine/model/result.ts'
import type { Disk, DiskState, DiskTrouble, DiskTroubleKind, DiskWrite, StoredPiece } from '#worker/persistence/disk.ts'
import { FileLogDisk, type FileLogOptions } from '#worker/persistence/file-log-disk.ts'
import { SimulatedFiles } from './simulated-folder.ts'

interface Contents {
  epoch: number
  state: DiskState | null
  extents: Map<string, ArrayBuffer>
  records: Map<string, ArrayBuffer>
}

/** How a scheduled misfortune strikes a write: before it happens, or after it happened but before anybody is told. */
export type Misfortune = 'dies_before' | 'dies_after' | DiskTroubleKind

const copyOf = (contents: Contents): Contents => ({
  ...contents,
  extents: new Map(contents.extents),
  records: new Map(contents.records),
})

const parse = (key: string) => key.split('/').map(Number) as [number, number]

/**
 * The platters: what survives a death of the program. Apart from the normal contents it keeps what would survive a loss of
 * power: everything up to the last strict write, without extents that were written by relaxed ones.
 */
export class SimulatedPlatters {
  readonly files = new SimulatedFiles()
  contents: Contents = { epoch: 0, state: null, extents: new Map(), records: new Map() }
  #synced: Contents = copyOf(this.contents)
  #unsyncedExtents = new Set<string>()

  noteWrite(durability: 'relaxed' | 'strict', extentKeys: string[]): void {
    if (durability === 'relaxed') {
      for (const key of extentKeys) this.#unsyncedExtents.add(key)
      return
    }
    for (const key of extentKeys) this.#unsyncedExtents.delete(key)
    this.#synced = copyOf(this.contents)
    for (const key of this.#unsyncedExtents) this.#synced.extents.delete(key)
  }

  losePower(): void {
    this.contents = copyOf(this.#synced)
    this.files.losePower()
  }

  /** As a browser does that finds its database damaged. The files are not in it. */
  loseDatabase(): void {
    this.contents = { epoch: 0, state: null, extents: new Map(), records: new Map() }
    this.#synced = copyOf(this.contents)
    this.#unsyncedExtents.clear()
  }

  storedBytes(): number {
    let bytes = 0
    for (const piece of this.contents.extents.values()) bytes += piece.byteLength
    for (const piece of this.contents.records.values()) bytes += piece.byteLength
    return bytes
  }
}

/** One program's connection to the platters. Deterministic: steps are numbered, and misfortunes are tied to numbers. */
export class SimulatedDisk implements Disk {
  onLost: ((trouble: DiskTrouble) => void) | null = null
  /** Number of operations so far: where a test can strike. */
  steps = 0
  isDead = false
  quotaBytes = Infinity
  writes: DiskWrite[] = []
  writesUnderWay = 0
  mostWritesUnderWay = 0
  readonly misfortunes = new Map<number, Misfortune>()
  readonly #platters: SimulatedPlatters

  constructor(platters: SimulatedPlatters) {
    this.#platters = platters
  }

  connect(): Promise<Result<void, DiskTrouble>> {
    return this.#operate(() => undefined)
  }

  claim(least = 1): Promise<Result<number, DiskTrouble>> {
    return this.#operate(() => {
      this.#platters.contents.epoch = Math.max(this.#platters.contents.epoch + 1, least)
      this.#platters.noteWrite('strict', [])
      return this.#platters.contents.epoch
    })
  }

  readState(): Promise<Result<DiskState | null, DiskTrouble>> {
    return this.#operate(() => this.#platters.contents.state)
  }

  readEpoch(): Promise<Result<number, DiskTrouble>> {
    return this.#operate(() => this.#platters.contents.epoch)
  }

  newestGeneration(): Promise<Result<number, DiskTrouble>> {
    const { extents, records } = this.#platters.contents
    return this.#operate(() => Math.max(0, ...[...extents.keys(), ...records.keys()].map((key) => parse(key)[0])))
  }

  readExtents(generation: number, onPiece: (piece: StoredPiece) => void): Promise<Result<void, DiskTrouble>> {
    return this.#operate(() => this.#handOut('extents', generation, 0, onPiece))
  }

  readRecords(
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): Promise<Result<void, DiskTrouble>> {
    return this.#operate(() => this.#handOut('records', generation, from, onPiece))
  }

  async write(write: DiskWrite): Promise<Result<void, DiskTrouble>> {
    this.writesUnderWay++
    this.mostWritesUnderWay = Math.max(this.mostWritesUnderWay, this.writesUnderWay)
    const { contents } = this.#platters
    const result = await this.#operate((): DiskTrouble | null => {
      if (contents.epoch !== write.epoch) return { kind: 'fenced', reason: `The epoch is ${contents.epoch}.` }
      if (this.#platters.storedBytes() + sizeOf(write) > this.quotaBytes) return { kind: 'full', reason: 'simulated' }
      this.#apply(write)
      return null
    })
    this.writesUnderWay--
    if (!result.ok) return result
    return result.value ? err(result.value) : ok(undefined)
  }

  close(): void {
    this.onLost = null
  }

  /** What needs no waiting. A program that dies in the middle of it never gets to what comes after. */
  operateNow<T>(work: () => T): T {
    const misfortune = this.misfortunes.get(++this.steps)
    if (misfortune === 'dies_before') this.isDead = true
    if (this.isDead) throw new Error('dead')
    if (misfortune === 'full') throw new DOMException('simulated', 'QuotaExceededError')
    if (misfortune && misfortune !== 'dies_after') throw new Error('simulated')
    const value = work()
    if (misfortune !== 'dies_after') return value
    this.isDead = true
    throw new Error('dead')
  }

  #apply(write: DiskWrite): void {
    const { contents } = this.#platters
    const key = (index: number) => `${write.generation}/${index}`
    for (const { index, bytes } of write.records ?? []) contents.records.set(key(index), bytes.slice(0))
    for (const { index, bytes } of write.extents ?? []) contents.extents.set(key(index), bytes.slice(0))
    if (write.state) contents.state = structuredClone(write.state)
    const { dropRecordsBefore, dropExtentsFrom, dropGenerations = [] } = write
    const drop = (map: Map<string, ArrayBuffer>, isGone: (generation: number, index: number) => boolean) => {
      for (const each of map.keys()) if (isGone(...parse(each))) map.delete(each)
    }
    if (dropRecordsBefore !== undefined) {
      drop(contents.records, (generation, index) => generation === write.generation && index < dropRecordsBefore)
    }
    if (dropExtentsFrom !== undefined) {
      drop(contents.extents, (generation, index) => generation === write.generation && index >= dropExtentsFrom)
    }
    drop(contents.records, (generation) => dropGenerations.includes(generation))
    drop(contents.extents, (generation) => dropGenerations.includes(generation))
    this.writes.push(write)
    this.#platters.noteWrite(
      write.durability,
      (write.extents ?? []).map(({ index }) => key(index)),
    )
  }

  #handOut(
    which: 'extents' | 'records',
    generation: number,
    from: number,
    onPiece: (piece: StoredPiece) => void,
  ): void {
    const keys = [...this.#platters.contents[which].keys()].map(parse)
    const wanted = keys.filter(([of, index]) => of === generation && index >= from).sort((a, b) => a[1] - b[1])
    for (const [, index] of wanted) {
      const bytes = this.#platters.contents[which].get(`${generation}/${index}`)
      if (bytes) onPiece({ index, bytes: bytes.slice(0) })
    }
  }

  async #operate<T>(work: () => T): Promise<Result<T, DiskTrouble>> {
    const misfortune = this.misfortunes.get(++this.steps)
    await Promise.resolve()
    if (misfortune === 'dies_before') this.isDead = true
    if (this.isDead || misfortune === 'dies_before') return new Promise(() => undefined)
    if (misfortune && misfortune !== 'dies_after') return err({ kind: misfortune, reason: 'simulated' })
    const value = work()
    if (misfortune === 'dies_after') {
      this.isDead = true
      return new Promise(() => undefined)
    }
    return ok(value)
  }
}

export type ConnectDisk = (simulated: SimulatedDisk, platters: SimulatedPlatters) => Disk

/** The same with the log in files. */
export const withLogFiles =
  (options: Omit<FileLogOptions, 'openFolder'> = {}): ConnectDisk =>
  (simulated, { files }) =>
    new FileLogDisk(simulated, {
      openFolder: () => Promise.resolve(files.openedBy((work) => simulated.operateNow(work))),
      now: () => 0,
      ripeAfterMs: 0,
      fullBytes: 40_000,
      ...options,
    })

const sizeOf = (write: DiskWrite): number =>
  [...(write.records ?? []), ...(write.extents ?? [])].reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
