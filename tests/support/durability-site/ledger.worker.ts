import { expose, proxy } from 'comlink'
import { browserPorts } from '#worker/leader/browser-ports.ts'
import { createTabCoordinator, type TabRole } from '#worker/leader/tab-coordinator.ts'
import { createFolderBackup, type BackupOutcome, type BackupStatus } from '#worker/persistence/folder-backup.ts'
import { openDisk } from '#worker/persistence/open-disk.ts'
import { openDurableDatabase, type DurableDatabase } from '#worker/persistence/open-durable-database.ts'
import type { StorageState } from '#worker/persistence/storage-state.ts'
import { openStrictSettings } from '#worker/persistence/strict-settings.ts'
import { checkLedger, commitEntry, createLedger } from '../ledger.ts'
import { sqliteInBrowser } from './open-in-browser.ts'

const NAME = 'ledger'
/** Small, so that folding goes on all the time. */
const smallestLogToFold = 64 * 1024

/** The engine under test: a ledger instead of workflows. */
interface LedgerApi {
  /** Commits one entry and notes who asked; answers when it is durable. */
  add: (call: string) => Promise<number>
  count: (call: string) => Promise<number>
  check: () => Promise<number>
  epoch: () => Promise<number>
  storage: () => Promise<StorageState>
  logIn: () => Promise<'files' | 'database'>
  /** Every state that the storage has gone through. */
  states: () => Promise<StorageState['kind'][]>
  image: () => Promise<Uint8Array>
  subscribe: (listener: (entry: number) => void) => Promise<() => void>
}

async function openLedger(onFenced: () => void): Promise<{ api: LedgerApi; durable: DurableDatabase }> {
  const states: StorageState['kind'][] = []
  const opened = await openDurableDatabase({
    disk: openDisk(NAME, { ripeAfterMs: 0 }),
    sqlite: await sqliteInBrowser(),
    smallestLogToFold,
    onState: (state) => {
      states.push(state.kind)
      if (state.kind === 'fenced') onFenced()
    },
  })
  if (!opened.ok) throw new Error(JSON.stringify(opened.error))
  const durable = opened.value
  const { database, durability } = durable
  createLedger(database)
  database.run('CREATE TABLE IF NOT EXISTS calls (call TEXT) STRICT')
  const listeners = new Set<(entry: number) => void>()
  const api: LedgerApi = {
    async add(call) {
      database.run('INSERT INTO calls VALUES (?)', [call])
      const entry = commitEntry(database)
      await durability.barrier()
      for (const listener of listeners) listener(entry)
      return entry
    },
    count: (call) => {
      const row = database.exec('SELECT count(*) FROM calls WHERE call = ?', [call])[0]?.values[0]
      return Promise.resolve(Number(row?.[0]))
    },
    check: () => Promise.resolve(checkLedger(database)),
    epoch: () => Promise.resolve(durable.epoch),
    storage: () => Promise.resolve(durable.storage()),
    logIn: () => Promise.resolve(durable.stats().logIn),
    states: () => Promise.resolve(states),
    image: () => Promise.resolve(durable.image()),
    subscribe: (listener) => {
      listeners.add(listener)
      return Promise.resolve(() => void listeners.delete(listener))
    },
  }
  return { api, durable }
}

let current: DurableDatabase | null = null

const openTab = () =>
  createTabCoordinator<LedgerApi>({
    name: NAME,
    ports: browserPorts(),
    isReadOnly: (method) => ['count', 'check', 'epoch', 'storage', 'logIn', 'image'].includes(method),
    isSubscription: (method) => method === 'subscribe',
    lostAnswer: () => -1,
    lead: async ({ resign }) => {
      const { api, durable } = await openLedger(resign)
      current = durable
      return { api, close: () => durable.close() }
    },
  })

let tab: ReturnType<typeof openTab> | null = null
const joined = () => (tab ??= openTab())

const api = {
  /** Takes part in the election with the other tabs. */
  role: (): TabRole => joined().role(),
  add: (call: string) => joined().api.add(call),
  count: (call: string) => joined().api.count(call),
  epoch: () => joined().api.epoch(),
  check: () => joined().api.check(),
  image: () => joined().api.image(),
  storage: () => joined().api.storage(),
  logIn: () => joined().api.logIn(),
  states: () => joined().api.states(),
  subscribe: async (listener: (entry: number) => void) => proxy(await joined().api.subscribe(listener)),

  /** Writes on its own, past the coordinator, until it is stopped: for a leader that is overtaken. Answers why it stopped. */
  hammerUntilStopped: async (): Promise<string> => {
    try {
      for (;;) {
        if (!current) return 'never led'
        commitEntry(current.database)
        await current.durability.barrier()
      }
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    }
  },

  /** The browser had thrown its database away, and what is open now was put together from files. */
  wasRestored: (): boolean => current?.stats().wasRestored === true,

  /** Opens alone and writes without end. `acknowledge` is called for what is durable, or, as a control, for what is not yet. */
  async hammer(acknowledge: (entry: number) => Promise<void>, options: { isDishonest: boolean }): Promise<number> {
    const disk = openDisk(NAME, { ripeAfterMs: 0 })
    const write = disk.write.bind(disk)
    if (options.isDishonest) {
      disk.write = async (each) => {
        await new Promise((resolve) => setTimeout(resolve, 80))
        return write(each)
      }
    }
    const opened = await openDurableDatabase({ disk, sqlite: await sqliteInBrowser(), smallestLogToFold })
    if (!opened.ok) throw new Error(JSON.stringify(opened.error))
    current = opened.value
    const { database, durability } = opened.value
    const found = checkLedger(database)
    createLedger(database)
    const task = async () => {
      for (;;) {
        const entry = commitEntry(database)
        if (options.isDishonest) await new Promise((resolve) => setTimeout(resolve, 1))
        else if (entry % 3 === 0) await durability.barrier()
        else {
          await new Promise((resolve) => setTimeout(resolve))
          continue
        }
        void acknowledge(entry)
      }
    }
    for (let n = 0; n < 4; n++) void task()
    return found
  },

  /** New owners come while the old one goes on writing. Answers with how each old one ended, and what is there in the end. */
  async overtake(rounds: number): Promise<{ endings: string[]; acknowledged: number; found: number }> {
    const open = async () => {
      const disk = openDisk(NAME, { ripeAfterMs: 0 })
      const opened = await openDurableDatabase({ disk, sqlite: await sqliteInBrowser(), smallestLogToFold })
      if (!opened.ok) throw new Error(JSON.stringify(opened.error))
      createLedger(opened.value.database)
      return opened.value
    }
    const endings: string[] = []
    let acknowledged = 0
    let owner = await open()
    for (let round = 0; round < rounds; round++) {
      const old = owner
      const hammering = (async () => {
        for (;;) {
          const entry = commitEntry(old.database)
          await old.durability.barrier()
          acknowledged = entry
        }
      })().catch((error: unknown) => endings.push(error instanceof Error ? error.name : String(error)))
      await new Promise((resolve) => setTimeout(resolve, 20))
      owner = await open()
      await hammering
      old.close()
    }
    const found = checkLedger(owner.database)
    owner.close()
    return { endings, acknowledged, found }
  },

  /** Replaces the database by a copy of an earlier state and goes back. Answers with the entries found after each step. */
  async replaceAndUndo(): Promise<number[]> {
    const found: number[] = []
    const open = async () => {
      const opened = await openDurableDatabase({
        disk: openDisk(NAME, { ripeAfterMs: 0 }),
        sqlite: await sqliteInBrowser(),
      })
      if (!opened.ok) throw new Error(JSON.stringify(opened.error))
      return opened.value
    }
    const first = await open()
    createLedger(first.database)
    for (let n = 0; n < 5; n++) commitEntry(first.database)
    const earlier = first.image()
    for (let n = 0; n < 5; n++) commitEntry(first.database)
    await first.replaceWith(earlier)
    const second = await open()
    found.push(checkLedger(second.database))
    commitEntry(second.database)
    await second.undoReplace()
    const third = await open()
    found.push(checkLedger(third.database))
    await third.undoReplace()
    const fourth = await open()
    await fourth.forgetReplaced()
    fourth.close()
    const fifth = await open()
    found.push(checkLedger(fifth.database), fifth.replacedAt() ?? -1)
    fifth.close()
    return found
  },

  /** Backs up to the origin's private folder, which behaves like a picked one that needs no permission. */
  async backUp(): Promise<{ outcome: BackupOutcome; status: BackupStatus; entries: number }> {
    const opened = await openDurableDatabase({
      disk: openDisk(NAME, { ripeAfterMs: 0 }),
      sqlite: await sqliteInBrowser(),
    })
    if (!opened.ok) throw new Error(JSON.stringify(opened.error))
    createLedger(opened.value.database)
    for (let n = 0; n < 12; n++) commitEntry(opened.value.database)
    const create = () =>
      createFolderBackup({
        settings: openStrictSettings('settings', indexedDB),
        image: opened.value.image,
        now: Date.now,
      })
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('backups', { create: true })
    await create().choose(folder)
    const outcome = await create().backUp()
    const status = await create().status()
    let entries = -1
    for await (const file of folder.values() as AsyncIterable<FileSystemFileHandle>) {
      const copy = new (await sqliteInBrowser()).sqlJs.Database(
        new Uint8Array(await (await file.getFile()).arrayBuffer()),
      )
      entries = checkLedger(copy)
    }
    opened.value.close()
    return { outcome, status, entries }
  },

  /** Fills the storage until it says no, then makes room and goes on. */
  async fillUp(): Promise<{
    before: StorageState['kind']
    accepted: boolean
    after: StorageState['kind']
    entries: number
    found: number
  }> {
    await writeFiller(3 * 2 ** 20)
    const disk = openDisk(NAME, { ripeAfterMs: 0 })
    const opened = await openDurableDatabase({ disk, sqlite: await sqliteInBrowser() })
    if (!opened.ok) throw new Error(JSON.stringify(opened.error))
    const { database, durability, storage, retry, close } = opened.value
    createLedger(database)
    database.run('CREATE TABLE bulk (b BLOB)')
    while (durability.isAccepting()) {
      database.run('INSERT INTO bulk VALUES (randomblob(200000))')
      commitEntry(database)
      // One flush at a time: what runs ahead of a slow disk must not be more than the room that is made afterwards.
      const flush = { isDone: false }
      void durability.barrier().then(() => (flush.isDone = true))
      while (!flush.isDone && durability.isAccepting()) await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const before = storage().kind
    const accepted = durability.isAccepting()
    const waiting = durability.barrier()
    const entries = commitEntry(database)
    await deleteDatabase('filler')
    await retry()
    await waiting
    const after = storage().kind
    await durability.barrier()
    close()
    const again = await openDurableDatabase({
      disk: openDisk(NAME, { ripeAfterMs: 0 }),
      sqlite: await sqliteInBrowser(),
    })
    if (!again.ok) throw new Error(JSON.stringify(again.error))
    const found = checkLedger(again.value.database)
    again.value.close()
    return { before, accepted, after, entries, found }
  },
}
export type LedgerWorkerApi = typeof api

async function writeFiller(bytes: number): Promise<void> {
  const request = indexedDB.open('filler', 1)
  request.onupgradeneeded = () => request.result.createObjectStore('filler')
  const filler = await new Promise<IDBDatabase>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(new Error(String(request.error)))
  })
  const transaction = filler.transaction(['filler'], 'readwrite')
  for (let n = 0; n < bytes; n += 50_000) {
    transaction.objectStore('filler').put(crypto.getRandomValues(new Uint8Array(50_000)).buffer, n)
  }
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(new Error(String(transaction.error)))
  })
  filler.close()
}

const deleteDatabase = (name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name)
    request.onsuccess = () => resolve()
    request.onerror = () => reject(new Error(String(request.error)))
  })

expose(api)
