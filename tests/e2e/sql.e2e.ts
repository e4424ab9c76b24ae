import { readFile } from 'node:fs/promises'
import { SqlPage } from './pages/sql-page.ts'
import { expectAccessible } from './support/axe.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('the database is asked, its mistakes are shown at their place, and questions are kept', async ({
  page,
  complaints,
}) => {
  const sql = new SqlPage(page)
  await sql.open('#/sql')
  await sql.deploy(triageScript())
  await sql.settle()

  await sql.run(`SELECT name, status, 1 AS n, 2 AS n FROM workflows`)
  await expect(sql.result).toContainText('Inbox triage')
  await expect(sql.result.getByRole('columnheader')).toHaveText(['name', 'status', 'n', 'n'])

  await sql.run('SELECT * FORM workflows')
  await expect(sql.problem).toContainText('near "FORM": syntax error')
  await page.getByRole('button', { name: 'Go there' }).click()
  const selected = () =>
    sql.editor.evaluate((field: HTMLTextAreaElement) => field.value.slice(field.selectionStart, field.selectionEnd))
  expect(await selected()).toBe('FORM')

  await sql.run(`DELETE FROM workflows`)
  await expect(sql.problem).toContainText('Only reading is possible here')

  await sql.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10500) SELECT i FROM n`)
  await expect(page.getByText('These are the first 10,000 rows; there are more.')).toBeVisible()
  expect(await sql.result.getByRole('row').count()).toBeLessThan(100)

  await page.getByRole('button', { name: 'Look at events' }).click()
  await expect(sql.editor).toHaveValue(/FROM events/)
  await sql.result.getByRole('row').nth(1).getByRole('button').click()
  await expect(page.getByRole('dialog', { name: 'Row 1' })).toContainText('"from"')
  await page.keyboard.press('Escape')
  await expectAccessible(page)

  const waiting = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const csv = await readFile(await (await waiting).path(), 'utf8')
  expect(csv.split('\r\n')[0]).toContain('message_id')

  // Kept by the engine, so it is there after a reload; what was asked is in the address.
  await sql.save('Latest events')
  await expect(sql.saved).toContainText('Latest events')
  await page.reload()
  await expect(sql.result).toBeVisible()
  await sql.run('SELECT 1')
  await sql.saved.getByRole('button', { name: 'Latest events', exact: true }).click()
  await expect(sql.editor).toHaveValue(/FROM events/)
  await sql.saved.getByRole('button', { name: 'Remove Latest events' }).click()
  await expect(sql.saved).toContainText('None yet')
  await sql.toasts.getByRole('button', { name: 'Undo' }).click()
  await expect(sql.saved).toContainText('Latest events')
  expect(complaints).toEqual([])
})
