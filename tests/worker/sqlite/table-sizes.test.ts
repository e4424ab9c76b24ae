import { measureTables } from '#worker/sqlite/table-sizes.ts'
import { expect, test } from 'vitest'
import { buildPublication, insertWorkflow } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

test('every page of the file belongs to a table or is free, and every row is counted', async () => {
  const { database, store } = await openTestStore()
  store.transaction((tx) => {
    insertWorkflow(tx)
    for (let n = 0; n < 600; n += 1) {
      // From one line to several pages that go on elsewhere.
      const payload = JSON.stringify('x'.repeat((n % 40) * 400))
      tx.events.publish(buildPublication({ id: `evt_${String(n).padStart(8, '0')}`, messageId: `m${n}`, payload }))
    }
    tx.settings.set('long', JSON.stringify('y'.repeat(50_000)), 1)
  })
  database.transaction(() => database.run(`DELETE FROM events WHERE message_id LIKE 'm1%'`))

  const file = database.exportBytes()
  const { tables, freeBytes } = measureTables(database, file)
  const sum = tables.reduce((total, { bytes }) => total + bytes, 0)
  const schemaPages = Number(database.get(`SELECT count(*) AS n FROM sqlite_schema`)?.['n'])
  expect(freeBytes).toBe(Number(database.get('PRAGMA freelist_count')?.['freelist_count']) * 4096)
  expect(freeBytes).toBeGreaterThan(0)
  // What is left over is the schema's own tree: a few pages.
  const own = file.length - sum - freeBytes
  expect(own).toBeGreaterThan(0)
  expect(own).toBeLessThan(schemaPages * 4096)
  for (const { name, rows } of tables) {
    expect({ name, rows }).toEqual({ name, rows: database.get(`SELECT count(*) AS n FROM "${name}"`)?.['n'] })
  }
  expect(tables[0]?.name).toBe('events')
})
