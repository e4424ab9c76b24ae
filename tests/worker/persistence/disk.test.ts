import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { describe, expect, test } from 'vitest'
import type { Disk, DiskState, StoredPiece } from '#worker/persistence/disk.ts'
import { IndexedDbDisk } from '#worker/persistence/indexed-db-disk.ts'
import { openBriefly } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger } from '../../support/ledger.ts'
import { SimulatedDisk, SimulatedPlatters, withLogFiles } from '../../support/simulated-disk.ts'

const bytesOf = (...values: number[]) => new Uint8Array(values).buffer
const state: DiskState = { format: 1, generation: 1, head: 1, baseBytes: 0, previous: null }

type Read = (onPiece: (piece: StoredPiece) => void) => Promise<unknown>
const collect = async (read: Read) => {
  const pieces: [number, number[]][] = []
  await read(({ index, bytes }) => pieces.push([index, [...new Uint8Array(bytes)]]))
  return pieces
}
const recordsOf = (disk: Disk, generation: number, from: number) =>
  collect((onPiece) => disk.readRecords(generation, from, onPiece))
const extentsOf = (disk: Disk, generation: number) => collect((onPiece) => disk.readExtents(generation, onPiece))

const disks: [string, () => () => Disk][] = [
  [
    'IndexedDB',
    () => {
      const factory = new IDBFactory()
      return () => new IndexedDbDisk('test', factory)
    },
  ],
  [
    'the simulated disk',
    () => {
      const platters = new SimulatedPlatters()
      return () => new SimulatedDisk(platters)
    },
  ],
  [
    'the log in files',
    () => {
      const platters = new SimulatedPlatters()
      return () => withLogFiles()(new SimulatedDisk(platters), platters)
    },
  ],
]

describe.each(disks)('%s as a disk', (_, makeStorage) => {
  const opened = async (connect = makeStorage()) => {
    const disk = connect()
    await disk.connect()
    const epoch = await disk.claim()
    if (!epoch.ok) throw new Error(epoch.error.reason)
    return { disk, epoch: epoch.value, connect }
  }

  test('is empty at first and raises the epoch with each owner', async () => {
    const { disk, epoch, connect } = await opened()
    expect(await disk.readState()).toEqual({ ok: true, value: null })
    expect(epoch).toBe(1)
    const next = await opened(connect)
    expect(next.epoch).toBe(2)
    expect(await disk.readEpoch()).toEqual({ ok: true, value: 2 })
  })

  test('two that claim at the same time get different epochs, and only the later one may write', async () => {
    const connect = makeStorage()
    const rivals = [connect(), connect(), connect()]
    for (const rival of rivals) await rival.connect()
    const claims = await Promise.all(rivals.map((rival) => rival.claim()))
    const epochs = claims.map((claim) => (claim.ok ? claim.value : 0))
    expect(epochs.toSorted()).toEqual([1, 2, 3])
    for (const [n, rival] of rivals.entries()) {
      const { ok } = await rival.write({ epoch: epochs[n] ?? 0, generation: 1, durability: 'strict', state })
      expect(ok).toBe(epochs[n] === 3)
    }
  })

  test('gives pieces back in the order of their numbers, from where one asks, each generation by itself', async () => {
    const { disk, epoch } = await opened()
    const records = [300, 2, 10, 9].map((index) => ({ index, bytes: bytesOf(index % 256) }))
    await disk.write({ epoch, generation: 1, durability: 'relaxed', records })
    await disk.write({ epoch, generation: 2, durability: 'strict', records: [{ index: 9, bytes: bytesOf(99) }] })
    const extents = [1, 0].map((index) => ({ index, bytes: bytesOf(index, 5) }))
    await disk.write({ epoch, generation: 1, durability: 'strict', extents, state })
    expect(await recordsOf(disk, 1, 9)).toEqual([
      [9, [9]],
      [10, [10]],
      [300, [44]],
    ])
    expect(await recordsOf(disk, 2, 0)).toEqual([[9, [99]]])
    expect(await extentsOf(disk, 1)).toEqual([
      [0, [0, 5]],
      [1, [1, 5]],
    ])
    expect(await extentsOf(disk, 2)).toEqual([])
    expect(await disk.readState()).toEqual({ ok: true, value: state })
  })

  test('knows the newest generation that pieces are stored of, whether there is a state or not', async () => {
    const { disk, epoch } = await opened()
    expect(await disk.newestGeneration()).toEqual({ ok: true, value: 0 })
    const piece = [{ index: 700, bytes: bytesOf(1) }]
    await disk.write({ epoch, generation: 2, durability: 'strict', records: piece })
    expect(await disk.newestGeneration()).toEqual({ ok: true, value: 2 })
    await disk.write({ epoch, generation: 3, durability: 'strict', extents: piece })
    expect(await disk.newestGeneration()).toEqual({ ok: true, value: 3 })
  })

  test('reads more pieces than fit into one portion', async () => {
    const { disk, epoch } = await opened()
    const records = Array.from({ length: 300 }, (_, index) => ({ index, bytes: bytesOf(1) }))
    await disk.write({ epoch, generation: 1, durability: 'relaxed', records })
    expect((await recordsOf(disk, 1, 0)).length).toBe(300)
    expect((await recordsOf(disk, 1, 128)).length).toBe(172)
  })

  test('drops what it is told to, and nothing else', async () => {
    const { disk, epoch } = await opened()
    const pieces = [1, 2, 3].map((index) => ({ index, bytes: bytesOf(index) }))
    for (const generation of [1, 2, 3]) {
      await disk.write({ epoch, generation, durability: 'relaxed', records: pieces, extents: pieces })
    }
    await disk.write({ epoch, generation: 1, durability: 'relaxed', dropRecordsBefore: 3, dropExtentsFrom: 2 })
    expect(await recordsOf(disk, 1, 0)).toEqual([[3, [3]]])
    expect(await extentsOf(disk, 1)).toEqual([[1, [1]]])
    await disk.write({ epoch, generation: 1, durability: 'relaxed', dropGenerations: [2] })
    expect([await recordsOf(disk, 2, 0), await extentsOf(disk, 2)]).toEqual([[], []])
    expect((await recordsOf(disk, 3, 0)).length).toBe(3)
  })

  test('takes nothing at all from an owner that was overtaken', async () => {
    const old = await opened()
    const { disk } = await opened(old.connect)
    const written = await old.disk.write({
      epoch: old.epoch,
      generation: 1,
      durability: 'strict',
      records: [{ index: 1, bytes: bytesOf(1) }],
      extents: [{ index: 1, bytes: bytesOf(1) }],
      state,
    })
    expect(written).toMatchObject({ ok: false, error: { kind: 'fenced' } })
    expect(await recordsOf(disk, 1, 0)).toEqual([])
    expect(await extentsOf(disk, 1)).toEqual([])
    expect(await disk.readState()).toEqual({ ok: true, value: null })
  })

  test('carries a database through several owners', async () => {
    const connect = makeStorage()
    for (let owner = 0; owner < 3; owner++) {
      await openBriefly(
        connect(),
        async ({ database, durability }) => {
          createLedger(database)
          for (let n = 0; n < 20; n++) {
            commitEntry(database)
            if (n % 4 === 0) await durability.barrier()
          }
          await durability.barrier()
        },
        { smallestLogToFold: 15_000 },
      )
    }
    expect(await openBriefly(connect(), ({ database }) => checkLedger(database))).toBe(60)
  })
})

describe('IndexedDB as a disk', () => {
  test('a newer version of the program gets the connection, and the older one is told', async () => {
    const factory = new IDBFactory()
    const disk = new IndexedDbDisk('test', factory)
    const troubles: string[] = []
    disk.onLost = ({ kind }) => troubles.push(kind)
    await disk.connect()
    const epoch = await disk.claim()
    await new Promise<void>((resolve, reject) => {
      const request = factory.open('test', 2)
      request.onsuccess = () => {
        request.result.close()
        resolve()
      }
      request.onerror = () => reject(new Error('refused'))
    })
    expect(troubles).toEqual(['superseded'])
    const write = { epoch: epoch.ok ? epoch.value : 0, generation: 1, durability: 'strict' } as const
    expect(await disk.write(write)).toMatchObject({ ok: false, error: { kind: 'superseded' } })
    expect(await disk.connect()).toMatchObject({ ok: false, error: { kind: 'superseded' } })
  })

  test('without a connection every call says that storage is lost', async () => {
    const disk = new IndexedDbDisk('test', new IDBFactory())
    expect(await disk.readState()).toMatchObject({ ok: false, error: { kind: 'lost' } })
    await disk.connect()
    expect(await disk.readState()).toEqual({ ok: true, value: null })
  })
})
