import { IDBFactory } from 'fake-indexeddb'
import { describe, expect, test } from 'vitest'
import { createFolderBackup } from '#worker/persistence/folder-backup.ts'
import { readStorageUsage } from '#worker/persistence/storage-usage.ts'
import { openStrictSettings, type StrictSettings } from '#worker/persistence/strict-settings.ts'
import { createMemoryFolder } from '../../support/memory-folder.ts'

/** Handles can be cloned in a browser; the stand-in cannot. */
function createSettings(): StrictSettings {
  const values = new Map<string, unknown>()
  return {
    get: <T>(key: string) => Promise.resolve(values.get(key) as T | undefined),
    set: (key, value) => Promise.resolve(void values.set(key, value)),
  }
}

function open() {
  const time = { now: Date.UTC(2026, 0, 2, 3, 4, 5) }
  const settings = createSettings()
  const backup = createFolderBackup({ settings, image: () => new Uint8Array([1, 2, 3]), now: () => time.now })
  return { backup, time, ...createMemoryFolder() }
}

describe('automatic backup to a folder', () => {
  test('is off until a folder was chosen, and off again when it is taken back', async () => {
    const { backup, folder } = open()
    expect(await backup.status()).toEqual({ kind: 'off' })
    expect(await backup.backUp()).toMatchObject({ kind: 'skipped' })
    await backup.choose(folder)
    expect(await backup.status()).toEqual({ kind: 'on', folder: 'Backups', last: null })
    await backup.choose(null)
    expect(await backup.status()).toEqual({ kind: 'off' })
  })

  test('writes the whole database under a name that says when', async () => {
    const { backup, folder, files, time } = open()
    await backup.choose(folder)
    const done = { at: time.now, file: 'holdfast-2026-01-02T030405.sqlite', bytes: 3 }
    expect(await backup.backUp()).toEqual({ kind: 'done', backup: done })
    expect(files.get(done.file)).toEqual(new Uint8Array([1, 2, 3]))
    expect(await backup.status()).toMatchObject({ kind: 'on', last: done })
  })

  test('keeps the ten newest and touches nothing else in the folder', async () => {
    const { backup, folder, files, time } = open()
    files.set('holiday.sqlite', new Uint8Array(1))
    files.set('holdfast-notes.txt', new Uint8Array(1))
    await backup.choose(folder)
    for (let n = 0; n < 14; n++) {
      time.now += 3_600_000
      await backup.backUp()
    }
    const ours = [...files.keys()].filter((name) => /^holdfast-\d/.test(name)).sort()
    expect(ours.length).toBe(10)
    expect(ours.at(-1)).toBe('holdfast-2026-01-02T170405.sqlite')
    expect(files.has('holiday.sqlite') && files.has('holdfast-notes.txt')).toBe(true)
  })

  test('says so when the browser wants to be asked again, and writes nothing', async () => {
    const { backup, folder, files, control } = open()
    await backup.choose(folder)
    control.permission = 'prompt'
    expect(await backup.status()).toMatchObject({ kind: 'needs_permission', folder: 'Backups' })
    expect(await backup.backUp()).toMatchObject({
      kind: 'skipped',
      message: expect.stringContaining('permission') as string,
    })
    expect(files.size).toBe(0)
  })

  test('a failed write leaves no half file and does not count as a backup', async () => {
    const { backup, folder, files, control } = open()
    await backup.choose(folder)
    control.failsToWrite = true
    expect(await backup.backUp()).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('disk full') as string,
    })
    expect(files.size).toBe(0)
    expect(await backup.status()).toMatchObject({ last: null })
  })
})

test('settings are kept, and written strictly', async () => {
  const factory = new IDBFactory()
  await openStrictSettings('settings', factory).set('folder', { name: 'x' })
  expect(await openStrictSettings('settings', factory).get('folder')).toEqual({ name: 'x' })
  expect(await openStrictSettings('settings', factory).get('nothing')).toBeUndefined()
})

describe('storage usage', () => {
  test('reports what the browser says', async () => {
    const storage = {
      estimate: () => Promise.resolve({ usage: 5, quota: 10 }),
      persisted: () => Promise.resolve(true),
    }
    expect(await readStorageUsage(storage)).toEqual({ usedBytes: 5, quotaBytes: 10, isPersisted: true })
  })

  test('reports nothing where the browser says nothing or fails', async () => {
    const nothing = { usedBytes: null, quotaBytes: null, isPersisted: null }
    expect(await readStorageUsage(undefined)).toEqual(nothing)
    expect(await readStorageUsage({ estimate: () => Promise.reject(new Error('no')) })).toEqual(nothing)
  })
})
