import { describe, expect, test } from 'vitest'
import { openCapture } from '#worker/persistence/capture.ts'
import { FileMirror } from '#worker/persistence/file-mirror.ts'
import { isSameFile } from '#worker/persistence/prove-tap.ts'
import { commitEntry, createLedger } from '../../support/ledger.ts'
import { sqliteForTests } from '../../support/sqlite-for-tests.ts'

const started = async () => {
  const sqlite = await sqliteForTests()
  const file = new FileMirror()
  file.begin(sqlite.emptyImage)
  return { sqlite, file }
}

describe('the write tap', () => {
  test('passes calibration and proof on the sql.js that is pinned', async () => {
    const { sqlite } = await started()
    expect(sqlite.tapFailure).toBeNull()
    expect(sqlite.tap).not.toBeNull()
    expect(sqlite.emptyImage.length).toBe(4096)
  })

  test('the in-memory file lives in the mirror itself: there is no second copy', async () => {
    const { sqlite, file } = await started()
    const database = new sqlite.sqlJs.Database(file.offer())
    createLedger(database)
    database.run('PRAGMA user_version = 77')
    expect(new DataView(file.view().buffer).getUint32(60)).toBe(77)
    database.close()
  })

  test('the mirror equals the exported database at any time, also after it had to move away', async () => {
    const { sqlite, file } = await started()
    const capture = openCapture(sqlite, file)
    expect(capture.kind).toBe('tap')
    createLedger(capture.database)
    for (let n = 0; n < 30; n++) {
      commitEntry(capture.database)
      if (n === 10) file.moveAway()
      if (n === 20) capture.database.run('VACUUM')
      expect(isSameFile(file.view(), capture.database.export())).toBe(true)
    }
    capture.close()
  })
})
