import { describe, expect, test } from 'vitest'
import type { Engine } from '#engine/runtime/engine.ts'
import { createBackupApi } from '#worker/backup-api.ts'
import type { FolderBackup } from '#worker/persistence/folder-backup.ts'
import { openForTest, settle } from '../support/durable.ts'
import { checkLedger, commitEntry, createLedger } from '../support/ledger.ts'
import { openTestStore } from '../support/open-test-store.ts'
import { SimulatedPlatters } from '../support/simulated-disk.ts'
import { sqliteForTests } from '../support/sqlite-for-tests.ts'

/** A ledger in the place of workflows: what matters here is only what becomes of the file. */
async function openBackups() {
  const { sqlJs } = await sqliteForTests()
  const durable = await openForTest(new SimulatedPlatters())
  createLedger(durable.database)
  await durable.durability.barrier()
  const told: string[] = []
  const engine: Partial<Engine> = {
    stop: () => told.push('stopped'),
    resume: () => told.push('resumed'),
    whenQuiet: () => Promise.resolve(),
  }
  const api = createBackupApi({
    engine: engine as Engine,
    durable,
    sqlJs,
    backup: {} as FolderBackup,
    atLength: (work) => work(),
    onReplacing: () => told.push('replacing'),
    onReplaced: () => told.push('replaced'),
  })
  return { api, durable, told, sqlJs }
}

describe('while the storage is full', () => {
  const openFull = async () => {
    const opened = await openBackups()
    opened.durable.disk.quotaBytes = 0
    commitEntry(opened.durable.database)
    await settle()
    expect(opened.durable.durability.isAccepting()).toBe(false)
    return opened
  }

  test('a backup is downloaded from memory, with everything that is not saved yet', async () => {
    const { api, sqlJs } = await openFull()
    const file = await api.exportDatabase()
    if (!file.ok) throw new Error(file.error.message)
    const copy = new sqlJs.Database(file.value)
    expect(checkLedger(copy)).toBe(1)
    copy.close()
  })

  test('an import is refused with what to do, and nothing that is only in memory is lost', async () => {
    const { api, durable, told } = await openFull()
    const refused = await api.importDatabase((await openTestStore()).exportBytes())
    expect(refused).toMatchObject({ ok: false, error: { code: 'storage' } })
    expect(refused.ok ? '' : refused.error.message).toMatch(/no room.*backup.*Nothing was replaced/s)
    expect(told).toEqual([])
    durable.disk.quotaBytes = Infinity
    await durable.retry()
    await durable.durability.barrier()
    expect(commitEntry(durable.database)).toBe(2)
  })
})

test('an import during which the storage fills up is given up, and the engine goes on', async () => {
  const { api, durable, told } = await openBackups()
  durable.disk.quotaBytes = 0
  commitEntry(durable.database)
  const refused = await api.importDatabase((await openTestStore()).exportBytes())
  expect(refused).toMatchObject({ ok: false, error: { code: 'storage' } })
  expect(told).toEqual(['stopped', 'resumed'])
  durable.disk.quotaBytes = Infinity
  await durable.retry()
  expect(durable.durability.isAccepting()).toBe(true)
})
