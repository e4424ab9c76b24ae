import { describe, expect, test } from 'vitest'
import { checkImport } from '#worker/persistence/check-import.ts'
import { migrations } from '#worker/sqlite/migrations/index.ts'
import { openDatabase } from '#worker/sqlite/open-database.ts'
import { sqliteForTests } from '../../support/sqlite-for-tests.ts'

const sqlJs = async () => (await sqliteForTests()).sqlJs

async function backup(change: string[] = []): Promise<Uint8Array> {
  const opened = openDatabase(await sqlJs())
  if (!opened.ok) throw new Error(opened.error.message)
  for (const sql of change) opened.value.script(sql)
  const bytes = opened.value.exportBytes()
  opened.value.close()
  return bytes
}

const refusal = async (bytes: Uint8Array): Promise<string> => {
  const checked = checkImport(await sqlJs(), bytes)
  if (checked.ok) throw new Error('It was accepted.')
  return checked.error.message
}

describe('checking a file before it replaces anything', () => {
  test('a backup of ours is accepted, with a preview of what is in it', async () => {
    const bytes = await backup(["INSERT INTO settings VALUES ('a', '1', 0), ('b', '2', 0)"])
    const checked = checkImport(await sqlJs(), bytes)
    if (!checked.ok) throw new Error(checked.error.message)
    expect(checked.value.preview.rowsByTable).toMatchObject({ settings: 2, workflows: 0 })
    expect(checked.value.preview.bytes).toBe(bytes.length)
    const database = new (await sqlJs()).Database(checked.value.image)
    expect(database.exec('SELECT count(*) FROM settings')[0]?.values).toEqual([[2]])
    database.close()
  })

  test('pages of another size and a write-ahead log are turned into what we store', async () => {
    const bytes = await backup(['PRAGMA locking_mode = NORMAL; PRAGMA page_size = 1024; VACUUM'])
    expect(new DataView(bytes.buffer, bytes.byteOffset).getUint16(16)).toBe(1024)
    bytes[18] = bytes[19] = 2
    const checked = checkImport(await sqlJs(), bytes)
    if (!checked.ok) throw new Error(checked.error.message)
    const { image } = checked.value
    expect(new DataView(image.buffer, image.byteOffset).getUint16(16)).toBe(4096)
    expect(image.length % 4096).toBe(0)
    expect([image[18], image[19]]).toEqual([1, 1])
  })

  test.each([
    ['nothing', new Uint8Array(0)],
    ['text', new TextEncoder().encode('SELECT * FROM everything')],
    ['a header and nothing behind it', new TextEncoder().encode('SQLite format 3\0')],
  ])('%s is refused in words', async (_, bytes) => {
    expect(await refusal(bytes)).toMatch(/Nothing was changed\.$/)
  })

  test('a file with damaged pages is refused', async () => {
    const bytes = await backup()
    const damaged = bytes.slice()
    damaged.fill(0xee, 4096 * 2 + 8, 4096 * 4)
    expect(await refusal(damaged)).toMatch(/damaged|cannot be read/)
    expect(await refusal(bytes.slice(0, bytes.length - 4096 * 3))).toMatch(/damaged|cannot be read/)
  })

  test("somebody else's database is refused", async () => {
    const database = new (await sqlJs()).Database()
    database.run('CREATE TABLE contacts (name TEXT)')
    expect(await refusal(database.export())).toMatch(/not written by Holdfast/)
    database.close()
  })

  test('a newer one is refused', async () => {
    expect(await refusal(await backup(['PRAGMA user_version = 9999']))).toMatch(/newer/)
  })

  test('rows that refer to nothing are refused', async () => {
    const bytes = await backup(['PRAGMA foreign_keys = OFF', "INSERT INTO topics VALUES (1, 'wf_gone', 'mail', 0)"])
    expect(await refusal(bytes)).toMatch(/contradicts itself/)
  })

  const config = '{"name":"mine","permissions":[],"topics":[],"producers":{},"consumers":{}}'
  const workflow = (id: string, handlerConfig = config, policy = 'NULL') =>
    `INSERT INTO workflows (id, name, status, active_version, handler_config, permissions, budget, retry_policy, created_at, updated_at)
     VALUES ('${id}', 'mine', 'draft', 0, '${handlerConfig}', '[]', 1, ${policy}, 0, 0)`
  const id = 'wf_01ARZ3NDEKTSV4RRFFQ69G5FAV'

  test('ids that ours could not go on from are refused', async () => {
    expect(await refusal(await backup([workflow('wf_by_hand')]))).toMatch(/ids that Holdfast did not make/)
    expect(checkImport(await sqlJs(), await backup([workflow(id)])).ok).toBe(true)
  })

  test.each([
    ['nothing in its configuration', '{}', 'a string is missing'],
    ['a consumer without topics', config.replace('"consumers":{}', '"consumers":{"carry":{}}'), 'a list is missing'],
    ['a list for a configuration', '[]', 'an object is missing'],
  ])('a workflow with %s is refused, by its name', async (_, handlerConfig, reason) => {
    const message = await refusal(await backup([workflow(id, handlerConfig)]))
    expect(message).toContain(`a workflow that cannot be used, "mine" (${id}).`)
    expect(message).toContain(reason)
    expect(message).toMatch(/Choose another backup\. Nothing was changed\.$/)
  })

  test('a workflow whose active version cannot be read is refused too', async () => {
    const script = `INSERT INTO scripts VALUES ('scr_01ARZ3NDEKTSV4RRFFQ69G5FAV', '${id}', 1, '', '{"name":1}', 0)`
    const use = `UPDATE workflows SET active_script_id = 'scr_01ARZ3NDEKTSV4RRFFQ69G5FAV', active_version = 1`
    expect(await refusal(await backup([workflow(id), script, use]))).toContain('a string is missing')
  })

  test('a retry policy that could not be followed is refused', async () => {
    const bytes = await backup([workflow(id, config, `'{"retries":-1}'`)])
    expect(await refusal(bytes)).toMatch(/The retry policy of wf_\w+ cannot be used/)
  })

  test('a backup from before workflows had policies gets the columns, with what holds everywhere', async () => {
    const opened = openDatabase(await sqlJs(), undefined, migrations.slice(0, 5))
    if (!opened.ok) throw new Error(opened.error.message)
    opened.value.script(workflow(id).replace('retry_policy, ', '').replace('NULL, ', ''))
    const checked = checkImport(await sqlJs(), opened.value.exportBytes())
    if (!checked.ok) throw new Error(checked.error.message)
    const database = new (await sqlJs()).Database(checked.value.image)
    expect(database.exec('SELECT retry_policy, retention_days FROM workflows')[0]?.values).toEqual([[null, null]])
    database.close()
  })

  test('the file that was handed in is left as it is', async () => {
    const bytes = await backup()
    bytes[18] = 2
    const before = bytes.slice()
    checkImport(await sqlJs(), bytes)
    expect(Buffer.compare(bytes, before)).toBe(0)
  })
})
