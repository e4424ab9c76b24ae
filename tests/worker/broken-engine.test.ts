import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { engineError } from '#engine/model/errors.ts'
import type { EngineApi } from '#worker/api.ts'
import { createBrokenApi } from '#worker/broken-engine.ts'
import { openDurableDatabase } from '#worker/persistence/open-durable-database.ts'
import { openBriefly } from '../support/durable.ts'
import { openTestStore } from '../support/open-test-store.ts'
import { SimulatedDisk, SimulatedPlatters, type Misfortune } from '../support/simulated-disk.ts'
import { sqliteForTests } from '../support/sqlite-for-tests.ts'

const NOTE = 'SELECT value FROM settings'

/** A backup that Holdfast made, with one setting by which it can be told. */
async function backupWith(note: string): Promise<Uint8Array> {
  const { database, exportBytes } = await openTestStore()
  database.transaction(() =>
    database.run(`INSERT INTO settings (key, value, updated_at) VALUES ('note', ?, 0)`, [`"${note}"`]),
  )
  return exportBytes()
}

async function platterWith(image: Uint8Array): Promise<SimulatedPlatters> {
  const platters = new SimulatedPlatters()
  await openBriefly(new SimulatedDisk(platters), ({ replaceWith }) => replaceWith(image))
  await openBriefly(new SimulatedDisk(platters), async ({ database, durability }) => {
    database.run(`UPDATE settings SET value = '"in the log"'`)
    await durability.barrier()
  })
  return platters
}

const damages: Record<string, (platters: SimulatedPlatters) => void> = {
  'a damaged log': ({ contents: { records } }) => {
    const bytes = new Uint8Array([...records.values()].at(-1) ?? new ArrayBuffer(0))
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  },
  'a missing piece': ({ contents: { extents } }) => {
    extents.delete([...extents.keys()].at(-1) ?? '')
  },
  'pieces that nothing describes': ({ contents }) => {
    contents.state = null
  },
  'pieces that are no database': ({ contents: { extents, records } }) => {
    for (const bytes of extents.values()) new Uint8Array(bytes).fill(0x55)
    records.clear()
  },
}

const openingOf = async (platters: SimulatedPlatters) => {
  const opened = await openDurableDatabase({ disk: new SimulatedDisk(platters), sqlite: await sqliteForTests() })
  if (!opened.ok) return opened.error.kind
  const note = opened.value.database.exec(NOTE)[0]?.values[0]?.[0]
  opened.value.close()
  return note
}

const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const sizeAndSum = async (api: EngineApi) => {
  const file = await api.exportDatabase()
  return file.ok ? { bytes: file.value.length, sum: sumOf(file.value) } : file.error.message
}

/** What is stored of one generation, by place and content. */
const piecesOf = ({ contents }: SimulatedPlatters, generation: number) =>
  Object.entries({ extents: contents.extents, records: contents.records }).flatMap(([kind, pieces]) =>
    [...pieces]
      .filter(([key]) => key.startsWith(`${generation}/`))
      .map(([key, bytes]) => `${kind} ${key} ${sumOf(new Uint8Array(bytes))}`),
  )

function breakDown(platters: SimulatedPlatters, disk: () => SimulatedDisk = () => new SimulatedDisk(platters)) {
  const told: string[] = []
  const api = createBrokenApi({
    error: engineError('storage', 'The reason.'),
    openDisk: disk,
    sqlite: sqliteForTests,
    now: () => 42,
    onReplaced: () => told.push('replaced'),
  })
  return { api, told }
}

describe('an engine that cannot be opened', { timeout: 60_000 }, () => {
  test('answers everything with the reason', async () => {
    const { api } = breakDown(new SimulatedPlatters())
    expect(await api.engineInfo()).toEqual({ ok: false, error: engineError('storage', 'The reason.') })
    expect(await api.listWorkflows()).toMatchObject({ ok: false, error: { message: 'The reason.' } })
  })

  test.each(Object.entries(damages))(
    'has a backup restored over %s, keeps what could not be opened, and can go back to it',
    async (_, damage) => {
      const platters = await platterWith(await backupWith('old'))
      damage(platters)
      expect(await openingOf(platters)).toBe('damaged')
      const salvaged = await sizeAndSum(breakDown(platters).api)
      const damaged = piecesOf(platters, 2)

      const first = breakDown(platters)
      expect(await first.api.importDatabase(await backupWith('restored'))).toEqual({ ok: true, value: null })
      expect(first.told).toEqual(['replaced'])
      expect(await openingOf(platters)).toBe('"restored"')
      expect(piecesOf(platters, 2)).toEqual(damaged)

      await openBriefly(new SimulatedDisk(platters), ({ undoReplace }) => undoReplace())
      expect(await sizeAndSum(breakDown(platters).api)).toEqual(salvaged)
      expect(await breakDown(platters).api.undoImport()).toEqual({ ok: true, value: null })
      expect(await openingOf(platters)).toBe('"restored"')
    },
  )

  test('has its pieces put together again by going back after a restore, if only the word about them was missing', async () => {
    const platters = await platterWith(await backupWith('old'))
    platters.contents.state = null
    await breakDown(platters).api.importDatabase(await backupWith('restored'))
    await openBriefly(new SimulatedDisk(platters), ({ undoReplace }) => undoReplace())
    expect(await openingOf(platters)).toBe('"in the log"')
  })

  test('begins with nothing where there is no backup, keeps what could not be opened, and can go back to it', async () => {
    const platters = await platterWith(await backupWith('old'))
    damages['a damaged log']?.(platters)
    const salvaged = await sizeAndSum(breakDown(platters).api)
    const { api, told } = breakDown(platters)
    expect(await api.startAnew()).toEqual({ ok: true, value: null })
    expect(told).toEqual(['replaced'])
    const tables = await openBriefly(new SimulatedDisk(platters), ({ database }) =>
      database.exec('SELECT count(*) FROM sqlite_schema')[0]?.values.flat(),
    )
    expect(tables).toEqual([0])
    expect(await openBriefly(new SimulatedDisk(platters), ({ undoReplace }) => undoReplace())).toMatchObject({
      ok: true,
    })
    expect(await sizeAndSum(breakDown(platters).api)).toEqual(salvaged)
  })

  test('shows what is in a backup before anything is replaced', async () => {
    const { api, told } = breakDown(new SimulatedPlatters())
    expect(await api.checkImport(await backupWith('x'))).toMatchObject({
      ok: true,
      value: { rowsByTable: { settings: 1 } },
    })
    expect(told).toEqual([])
  })

  test('says nothing old once the backup is in place', async () => {
    const { api } = breakDown(await platterWith(await backupWith('old')))
    await api.importDatabase(await backupWith('restored'))
    const answered = await Promise.race([api.engineInfo(), new Promise((resolve) => setTimeout(resolve, 5, 'silence'))])
    expect(answered).toBe('silence')
  })

  test('refuses a file that is no backup, and changes nothing', async () => {
    const platters = await platterWith(await backupWith('old'))
    damages['a damaged log']?.(platters)
    const before = piecesOf(platters, 2)
    const { api, told } = breakDown(platters)
    const backup = await backupWith('restored')
    for (const file of [new Uint8Array([1, 2, 3]), backup.fill(0, 5000, 9000), 'text' as unknown as Uint8Array]) {
      expect(await api.importDatabase(file)).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
    }
    expect(told).toEqual([])
    expect(platters.contents.state?.generation).toBe(2)
    expect(piecesOf(platters, 2)).toEqual(before)
  })

  test('says that there is nothing to undo when nothing was imported', async () => {
    const { api } = breakDown(new SimulatedPlatters())
    expect(await api.undoImport()).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  test('leaves data of a newer version alone', async () => {
    const platters = await platterWith(await backupWith('old'))
    if (platters.contents.state) platters.contents.state.format = 99
    const before = [piecesOf(platters, 2), platters.contents.epoch, structuredClone(platters.contents.state)]
    const { api } = breakDown(platters)
    const refused = await api.importDatabase(await backupWith('restored'))
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining('newer version') as string } })
    expect([piecesOf(platters, 2), platters.contents.epoch, platters.contents.state]).toEqual(before)
  })

  test.each<Misfortune>(['full', 'lost', 'dies_before', 'dies_after'])(
    'whatever happens at any step of restoring (%s), the damaged one is as it was or the backup is in place',
    async (misfortune) => {
      const backup = await backupWith('restored')
      const old = await backupWith('old')
      let hasHappened = true
      for (let step = 1; hasHappened; step++) {
        const platters = await platterWith(old)
        damages['a damaged log']?.(platters)
        const disk = new SimulatedDisk(platters)
        disk.misfortunes.set(step, misfortune)
        const { api } = breakDown(platters, () => disk)
        const end = Promise.race([api.importDatabase(backup), new Promise((resolve) => setTimeout(resolve, 30))])
        const answer = (await end) as Awaited<ReturnType<typeof api.importDatabase>> | undefined
        hasHappened = disk.steps >= step
        platters.losePower()
        const found = await openingOf(platters)
        if (answer) expect(found).toBe(answer.ok ? '"restored"' : 'damaged')
        else expect(['damaged', '"restored"']).toContain(found)
        if (answer?.ok === false) expect(answer.error.message).toMatch(/eload this tab/)
        if (found === 'damaged') await breakDown(platters).api.importDatabase(backup)
        expect(await openingOf(platters)).toBe('"restored"')
      }
    },
  )
})
