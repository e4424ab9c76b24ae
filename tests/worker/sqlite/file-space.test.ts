import { expect, test } from 'vitest'
import { createFileSpace } from '#worker/sqlite/file-space.ts'
import { useConnection } from '#worker/sqlite/open-database.ts'
import { openForTest } from '../../support/durable.ts'
import { SimulatedPlatters } from '../../support/simulated-disk.ts'

test('what is given back is off the disk too, and what is left is all there after a crash', async () => {
  const platters = new SimulatedPlatters()
  const first = await openForTest(platters)
  const used = useConnection(first.database)
  if (!used.ok) throw new Error(used.error.message)
  const database = used.value
  database.onCommit(first.noteCommit)
  database.transaction(() => {
    for (let n = 0; n < 300; n += 1) {
      database.run(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, 1)`, [`k${n}`, `"${'x'.repeat(5000)}"`])
    }
  })
  await first.durability.barrier()
  database.transaction(() => database.run(`DELETE FROM settings WHERE key <> 'k7'`))
  const space = createFileSpace(database, first.durability, first.noteCommit)
  const before = space.read()
  expect(before.freeBytes).toBeGreaterThan(before.fileBytes / 2)
  await space.giveBack()
  expect(space.read().freeBytes).toBe(0)
  expect(space.read().fileBytes).toBeLessThan(before.fileBytes / 2)
  // The statements that were prepared before still work.
  expect(database.get('SELECT count(*) AS n FROM settings')).toEqual({ n: 1 })

  const second = await openForTest(platters)
  expect(second.stats().fileBytes).toBe(space.read().fileBytes)
  expect(second.database.exec('PRAGMA integrity_check')[0]?.values).toEqual([['ok']])
  expect(second.database.exec('SELECT key FROM settings')[0]?.values).toEqual([['k7']])
})
