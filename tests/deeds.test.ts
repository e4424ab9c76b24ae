import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

test('every test that the table of deeds names exists under that name', async () => {
  const readme = await readFile('tests/e2e/README.md', 'utf8')
  const rows = [...readme.matchAll(/^\| (.+?) +\| `([\w-]+\.e2e\.ts)` +\| (.+?) +\|$/gm)]
  expect(rows.length).toBeGreaterThan(30)
  const missing: string[] = []
  for (const [, deed, file, name = ''] of rows) {
    const source = await readFile(`tests/e2e/${file}`, 'utf8')
    const isThere = ["'", '`', '"'].some((quote) => source.includes(`test(${quote}${name}${quote}`))
    if (!isThere) missing.push(`${deed}: ${file} has no test "${name}"`)
  }
  expect(missing).toEqual([])
})
