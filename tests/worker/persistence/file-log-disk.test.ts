import { expect, test } from 'vitest'
import type { DiskState } from '#worker/persistence/disk.ts'
import { FileLogDisk, type FileLogOptions } from '#worker/persistence/file-log-disk.ts'
import { RIPE_AFTER_MS } from '#worker/persistence/log-pieces.ts'
import { openDurableDatabase, type OpenOptions } from '#worker/persistence/open-durable-database.ts'
import { createManualTimers, openBriefly, settle } from '../../support/durable.ts'
import { checkLedger, commitEntry, createLedger } from '../../support/ledger.ts'
import { SimulatedDisk, SimulatedPlatters, withLogFiles } from '../../support/simulated-disk.ts'
import { sqliteForTests } from '../../support/sqlite-for-tests.ts'

const connect = (platters: SimulatedPlatters, options: Omit<FileLogOptions, 'openFolder'> = {}) =>
  withLogFiles(options)(new SimulatedDisk(platters), platters)

const withoutFiles = (platters: SimulatedPlatters): FileLogDisk =>
  new FileLogDisk(new SimulatedDisk(platters), { openFolder: () => Promise.reject(new Error('no files today')) })

const entriesOn = (platters: SimulatedPlatters) =>
  openBriefly(connect(platters), ({ database }) => checkLedger(database))

/** Stays open, for tests in which several have it open. */
const open = async (platters: SimulatedPlatters, options: Partial<OpenOptions> = {}) => {
  const opened = await openDurableDatabase({
    disk: connect(platters),
    sqlite: await sqliteForTests(),
    now: () => 0,
    after: createManualTimers().after,
    gatherMs: 0,
    ...options,
  })
  if (!opened.ok) throw new Error(JSON.stringify(opened.error))
  createLedger(opened.value.database)
  return opened.value
}

/** One life: so many entries, each of them acknowledged. */
const live = (platters: SimulatedPlatters, entries: number, disk = connect(platters)) =>
  openBriefly(disk, async ({ database, durability }) => {
    createLedger(database)
    for (let n = 0; n < entries; n += 1) {
      commitEntry(database)
      await durability.barrier()
    }
  })

const stateOn = ({ contents }: SimulatedPlatters): DiskState => {
  if (!contents.state) throw new Error('Nothing is stored.')
  return contents.state
}

const lastFile = (platters: SimulatedPlatters) => {
  const slot = stateOn(platters).pieces?.at(-1)?.slot
  const file = platters.files.files.get(`log-${String(slot)}`)
  if (!file) throw new Error('The log does not end in a file.')
  return file
}

test('the log goes on in a file, and the database behind is left alone', async () => {
  const platters = new SimulatedPlatters()
  const simulated = new SimulatedDisk(platters)
  await live(platters, 30, withLogFiles()(simulated, platters))
  expect(simulated.writes.filter(({ records }) => records?.length).length).toBeLessThan(3)
  expect(await entriesOn(platters)).toBe(30)
})

test('what was acknowledged survives a loss of power, life after life', async () => {
  const platters = new SimulatedPlatters()
  for (let life = 1; life <= 20; life += 1) {
    await live(platters, 5)
    platters.losePower()
    expect(await entriesOn(platters)).toBe(5 * life)
  }
})

test('a control: files that are not synced would lose what was acknowledged', async () => {
  const platters = new SimulatedPlatters()
  await live(platters, 5)
  const disk = connect(platters)
  for (const file of platters.files.files.values()) file.unsynced = []
  await openBriefly(disk, async ({ database, durability }) => {
    for (let n = 0; n < 5; n += 1) {
      commitEntry(database)
      await durability.barrier()
      const { synced } = lastFile(platters)
      // As if flush had come back without having done it.
      lastFile(platters).synced = synced.slice(0, 64)
    }
  })
  platters.losePower()
  expect(await entriesOn(platters)).toBeLessThan(10)
})

test('an owner that was overtaken is told so by its next write, and nothing of that is found', async () => {
  const platters = new SimulatedPlatters()
  const old = await open(platters)
  commitEntry(old.database)
  await old.durability.barrier()
  const next = await open(platters)
  commitEntry(old.database)
  await expect(old.durability.barrier()).rejects.toMatchObject({ name: 'Fenced' })
  expect(old.storage().kind).toBe('fenced')
  expect(checkLedger(next.database)).toBe(1)
  commitEntry(next.database)
  await next.durability.barrier()
  next.close()
  expect(await entriesOn(platters)).toBe(2)
})

test('an owner that slept is fenced also by one that could not open the files, and left no mark there', async () => {
  const platters = new SimulatedPlatters()
  let now = 0
  const old = await open(platters, { disk: connect(platters, { now: () => now }) })
  commitEntry(old.database)
  await old.durability.barrier()
  const rival = withoutFiles(platters)
  await rival.connect()
  await rival.claim()
  rival.close()
  now = 60_000
  commitEntry(old.database)
  await expect(old.durability.barrier()).rejects.toMatchObject({ name: 'Fenced' })
  expect(await entriesOn(platters)).toBe(1)
})

test('an owner that was frozen while it asked whether it still is the owner asks again', async () => {
  const platters = new SimulatedPlatters()
  const simulated = new SimulatedDisk(platters)
  let now = 0
  const old = await open(platters, { disk: withLogFiles({ now: () => now })(simulated, platters) })
  commitEntry(old.database)
  await old.durability.barrier()
  const ask = simulated.readEpoch.bind(simulated)
  simulated.readEpoch = async () => {
    const answer = await ask()
    simulated.readEpoch = ask
    const rival = withoutFiles(platters)
    await rival.connect()
    await rival.claim()
    rival.close()
    now += 60_000
    return answer
  }
  now = 60_000
  commitEntry(old.database)
  await expect(old.durability.barrier()).rejects.toMatchObject({ name: 'Fenced' })
  expect(await entriesOn(platters)).toBe(1)
})

test('an owner that writes all the time is fenced within a moment by one that left no mark', async () => {
  const platters = new SimulatedPlatters()
  let now = 0
  const old = await open(platters, { disk: connect(platters, { now: () => now, fullBytes: 2 ** 22 }) })
  const carryOn = async (): Promise<void> => {
    for (let n = 0; n < 20; n += 1) {
      now += 100
      commitEntry(old.database)
      await old.durability.barrier()
    }
  }
  await carryOn()
  const rival = withoutFiles(platters)
  await rival.connect()
  await rival.claim()
  rival.close()
  await expect(carryOn()).rejects.toMatchObject({ name: 'Fenced' })
})

test('an owner that was only silent goes on', async () => {
  const platters = new SimulatedPlatters()
  let now = 0
  const opened = await open(platters, { disk: connect(platters, { now: () => now }) })
  for (let entry = 0; entry < 5; entry += 1) {
    commitEntry(opened.database)
    await opened.durability.barrier()
    now += 60_000
  }
  opened.close()
  expect(await entriesOn(platters)).toBe(5)
})

test('files that can be opened only after the database was claimed are left alone: they do not know this owner', async () => {
  const fresh = new SimulatedPlatters()
  const simulated = new SimulatedDisk(fresh)
  let isWell = false
  const disk = new FileLogDisk(simulated, {
    openFolder: () =>
      isWell
        ? Promise.resolve(fresh.files.openedBy((work) => simulated.operateNow(work)))
        : Promise.reject(new Error('no files today')),
    now: () => 0,
    ripeAfterMs: 0,
  })
  const opened = await open(fresh, { disk })
  commitEntry(opened.database)
  await opened.durability.barrier()
  simulated.misfortunes.set(simulated.steps + 1, 'full')
  commitEntry(opened.database)
  const saved = opened.durability.barrier()
  await settle()
  expect(opened.storage().kind).not.toBe('ok')
  isWell = true
  simulated.misfortunes.clear()
  await opened.retry()
  await saved
  for (let entry = 0; entry < 3; entry += 1) {
    commitEntry(opened.database)
    await opened.durability.barrier()
  }
  expect(opened.storage().kind).toBe('ok')
  opened.close()
  expect(fresh.files.files.size).toBe(0)
  expect(await entriesOn(fresh)).toBe(5)
})

test('an owner that is overtaken between its write and its look behind is not told that it is safe', async () => {
  const platters = new SimulatedPlatters()
  const old = await open(platters)
  commitEntry(old.database)
  await old.durability.barrier()
  const file = lastFile(platters)
  const before = file.seen.length
  // The new one raises the epoch first and reads then: what is written in between, it sees.
  const rival = connect(platters)
  await rival.connect()
  await rival.claim()
  commitEntry(old.database)
  await expect(old.durability.barrier()).rejects.toMatchObject({ name: 'Fenced' })
  expect(file.seen.length).toBe(before)
  rival.close()
  expect(await entriesOn(platters)).toBe(1)
})

test('what an overtaken owner writes into its file after all does not count', async () => {
  const platters = new SimulatedPlatters()
  const simulated = new SimulatedDisk(platters)
  const folder = platters.files.openedBy((work) => simulated.operateNow(work))
  let isBlind = false
  const blind = new FileLogDisk(simulated, {
    openFolder: () =>
      Promise.resolve({
        open: async (name) => {
          const file = await folder.open(name)
          const seen = { size: 0 }
          return { ...file, size: () => (isBlind && name === 'owners' ? seen.size : (seen.size = file.size())) }
        },
      }),
    now: () => 0,
    ripeAfterMs: 0,
  })
  const old = await open(platters, { disk: blind })
  commitEntry(old.database)
  await old.durability.barrier()
  // Until what was in the database at first is folded.
  while (old.stats().folds === 0) {
    commitEntry(old.database)
    await old.durability.barrier()
  }
  const before = checkLedger(old.database)
  isBlind = true
  const next = await open(platters)
  commitEntry(next.database)
  commitEntry(next.database)
  await next.durability.barrier()
  // It does not look, and takes itself for the owner.
  for (let n = 0; n < 9; n += 1) commitEntry(old.database)
  await old.durability.barrier()
  commitEntry(next.database)
  await next.durability.barrier()
  next.close()
  expect(await entriesOn(platters)).toBe(before + 3)
})

test('a log file that is gone is damage, not a shorter log', async () => {
  const platters = new SimulatedPlatters()
  await live(platters, 10)
  platters.files.files.clear()
  const opened = await openDurableDatabase({ disk: connect(platters), sqlite: await sqliteForTests() })
  expect(opened).toMatchObject({ ok: false, error: { kind: 'damaged' } })
})

test('what was on the disk for certain and cannot be read is damage; a tail that was torn is not', async () => {
  const platters = new SimulatedPlatters()
  await openBriefly(connect(platters), async ({ database, durability }) => {
    createLedger(database)
    for (let n = 0; n < 10; n += 1) {
      commitEntry(database)
      await durability.barrier()
    }
    // Nobody waits for this one.
    commitEntry(database)
    await settle()
  })
  const { seen } = lastFile(platters)
  const whole = seen.slice()
  const end = whole.findLastIndex((byte) => byte !== 0)
  seen.fill(0xff, end - 40, end + 1)
  expect(await entriesOn(platters)).toBe(10)

  const again = new SimulatedPlatters()
  await live(again, 10)
  const file = lastFile(again)
  file.seen.fill(0xff, 300, 340)
  const opened = await openDurableDatabase({ disk: connect(again), sqlite: await sqliteForTests() })
  expect(opened).toMatchObject({ ok: false, error: { kind: 'damaged' } })
})

test('a database that the browser has thrown away is put together again from the files', async () => {
  const platters = new SimulatedPlatters()
  for (let life = 1; life <= 12; life += 1) {
    await live(platters, 5)
    platters.loseDatabase()
    const found = await openBriefly(connect(platters), ({ database, stats }) => ({
      entries: checkLedger(database),
      wasRestored: stats().wasRestored,
    }))
    expect(found).toEqual({ entries: 5 * life, wasRestored: true })
    platters.losePower()
    expect(await entriesOn(platters)).toBe(5 * life)
  }
})

test('what an import has put in the place of a database is put together again as well', async () => {
  const platters = new SimulatedPlatters()
  const first = await open(platters)
  commitEntry(first.database)
  const image = first.image()
  commitEntry(first.database)
  expect(await first.replaceWith(image)).toMatchObject({ ok: true })
  await live(platters, 4)
  platters.loseDatabase()
  expect(await entriesOn(platters)).toBe(5)
})

test('what was only in the database, because the files were too young, is not passed over in silence', async () => {
  const platters = new SimulatedPlatters()
  const young = () => connect(platters, { ripeAfterMs: RIPE_AFTER_MS })
  await live(platters, 5, young())
  platters.loseDatabase()
  const opened = await openDurableDatabase({ disk: young(), sqlite: await sqliteForTests() })
  expect(opened).toMatchObject({
    ok: false,
    error: { kind: 'damaged', damage: [expect.stringContaining('thrown away')] },
  })
})

test('a database that was thrown away without a copy is told, and not begun anew', async () => {
  const platters = new SimulatedPlatters()
  await live(platters, 5)
  for (const disk of [withoutFiles(platters), connect(platters)]) {
    await disk.connect()
    await disk.claim()
    disk.close()
  }
  platters.loseDatabase()
  for (let time = 0; time < 2; time += 1) {
    const opened = await openDurableDatabase({ disk: connect(platters), sqlite: await sqliteForTests() })
    expect(opened).toMatchObject({
      ok: false,
      error: { kind: 'damaged', damage: ['The browser has thrown away what was stored.'] },
    })
  }
})

test('a copy that somebody without the files has left behind is not relied on, and made anew', async () => {
  const platters = new SimulatedPlatters()
  await live(platters, 20)
  const rival = withoutFiles(platters)
  await rival.connect()
  await rival.claim()
  rival.close()
  await live(platters, 5)
  platters.loseDatabase()
  expect(await entriesOn(platters)).toBe(25)
})

test('a browser that dies while a database is put together again has lost nothing', async () => {
  for (let step = 1; ; step += 1) {
    const platters = new SimulatedPlatters()
    await live(platters, 60)
    await live(platters, 60)
    platters.loseDatabase()
    const simulated = new SimulatedDisk(platters)
    simulated.misfortunes.set(step, step % 2 === 0 ? 'dies_before' : 'dies_after')
    const opening = openDurableDatabase({ disk: withLogFiles()(simulated, platters), sqlite: await sqliteForTests() })
    await Promise.race([opening.catch(() => undefined), settle(400)])
    expect(await entriesOn(platters), `died at step ${step}`).toBe(120)
    if (!simulated.isDead) break
  }
})

test('files that were made a moment ago are not relied on: their names may not be on the disk yet', async () => {
  const platters = new SimulatedPlatters()
  const at = (now: number) => connect(platters, { now: () => now, ripeAfterMs: RIPE_AFTER_MS })
  await live(platters, 5, at(1_000))
  expect(stateOn(platters)).toMatchObject({ slotsSince: 1_000 })
  await live(platters, 5, at(RIPE_AFTER_MS))
  expect(stateOn(platters).pieces).toBeUndefined()
  await live(platters, 5, at(RIPE_AFTER_MS + 1_000))
  // And folded at once: of what is in the database there is no other copy.
  expect(stateOn(platters).pieces).toMatchObject([{ slot: 0 }])
  expect(await entriesOn(platters)).toBe(15)
})

test('a log that is in many files is folded, and the files are used again', async () => {
  const platters = new SimulatedPlatters()
  let most = 0
  for (let life = 1; life <= 30; life += 1) {
    await live(platters, 4)
    most = Math.max(most, stateOn(platters).pieces?.length ?? 0)
    expect(await entriesOn(platters)).toBe(4 * life)
  }
  expect(most).toBeLessThan(9)
  expect([...platters.files.files.keys()].filter((name) => name.startsWith('log-')).length).toBeLessThan(13)
})

test('where files cannot be shared all is in the database, and nothing is missing', async () => {
  const platters = new SimulatedPlatters()
  const simulated = new SimulatedDisk(platters)
  await live(platters, 10, new FileLogDisk(simulated, { openFolder: () => Promise.resolve(null) }))
  expect(platters.files.files.size).toBe(0)
  expect(await openBriefly(new SimulatedDisk(platters), ({ database }) => checkLedger(database))).toBe(10)
})

test('a log in files that cannot be opened any more is refused in words, and left as it is', async () => {
  const platters = new SimulatedPlatters()
  await live(platters, 10)
  const opened = await openDurableDatabase({ disk: withoutFiles(platters), sqlite: await sqliteForTests() })
  expect(opened).toMatchObject({ ok: false, error: { kind: 'storage', state: { kind: 'lost' } } })
  expect(await entriesOn(platters)).toBe(10)
})

test('a full disk loses nothing: when there is room again it goes on where it stopped', async () => {
  const platters = new SimulatedPlatters()
  const simulated = new SimulatedDisk(platters)
  const opened = await open(platters, { disk: withLogFiles()(simulated, platters) })
  commitEntry(opened.database)
  await opened.durability.barrier()
  for (let step = 1; step <= 12; step += 1) {
    simulated.misfortunes.set(simulated.steps + step, 'full')
    commitEntry(opened.database)
    let isSaved = false
    const saved = opened.durability.barrier().then(() => (isSaved = true))
    await settle()
    if (opened.storage().kind !== 'ok') {
      expect(isSaved).toBe(false)
      simulated.misfortunes.clear()
      await opened.retry()
    }
    await saved
  }
  opened.close()
  platters.losePower()
  expect(await entriesOn(platters)).toBe(13)
})

test.each(['that writes', 'with nothing to write'])(
  'what nobody waited for in a file that was left in trouble is on the disk when a barrier %s is answered',
  async (what) => {
    for (let step = 1; step <= 8; step += 1) {
      const platters = new SimulatedPlatters()
      const simulated = new SimulatedDisk(platters)
      const opened = await open(platters, { disk: withLogFiles()(simulated, platters) })
      commitEntry(opened.database)
      await opened.durability.barrier()
      for (let n = 0; n < 5; n += 1) {
        commitEntry(opened.database)
        opened.noteCommit()
        await settle()
      }
      simulated.misfortunes.set(simulated.steps + step, 'lost')
      if (what === 'that writes') commitEntry(opened.database)
      const saved = opened.durability.barrier()
      await settle()
      simulated.misfortunes.clear()
      await opened.retry()
      await saved
      opened.close()
      platters.losePower()
      expect(await entriesOn(platters)).toBe(what === 'that writes' ? 7 : 6)
    }
  },
)

test('an import leaves the files of the old database alone, and going back finds all of it', async () => {
  const platters = new SimulatedPlatters()
  await live(platters, 10)
  const other = new SimulatedPlatters()
  await live(other, 3)
  const image = await openBriefly(connect(other), ({ image: bytes }) => bytes())
  await openBriefly(connect(platters), async ({ database, replaceWith }) => {
    commitEntry(database)
    await replaceWith(image)
  })
  await live(platters, 1)
  expect(await entriesOn(platters)).toBe(4)
  await openBriefly(connect(platters), async ({ undoReplace }) => {
    await undoReplace()
  })
  expect(await entriesOn(platters)).toBe(11)
})

test('what is left of a log whose state is gone can still be brought to safety', async () => {
  const { salvage } = await import('#worker/persistence/read-stored.ts')
  const platters = new SimulatedPlatters()
  await openBriefly(
    connect(platters),
    async ({ database, durability }) => {
      createLedger(database)
      for (let n = 0; n < 40; n += 1) {
        commitEntry(database)
        await durability.barrier()
      }
    },
    { smallestLogToFold: 12_000 },
  )
  const expected = await openBriefly(connect(platters), ({ image }) => image())
  platters.contents.state = null
  const saved = await salvage(connect(platters))
  expect(saved.ok && saved.value.length).toBe(expected.length)
})
