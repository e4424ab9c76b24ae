import { IDBFactory } from 'fake-indexeddb'
import { describe, expect, it } from 'vitest'
import { createIndexedDbKeyValue } from '#worker/tools/indexeddb-key-value.ts'
import { createMemoryKeyValue, type KeyValue } from '#worker/tools/key-value.ts'
import { TextInTurn } from '#worker/persistence/text-in-turn.ts'
import { createSparedKeyValue } from '#worker/tools/spared-key-value.ts'
import { SimulatedFiles } from '../../support/simulated-folder.ts'

const kinds: [string, () => { open: () => KeyValue }][] = [
  [
    'in memory',
    () => {
      const one = createMemoryKeyValue()
      return { open: () => one }
    },
  ],
  [
    'in IndexedDB',
    () => {
      const factory = new IDBFactory()
      return { open: () => createIndexedDbKeyValue('texts', factory) }
    },
  ],
]

const openSpare = (files: SimulatedFiles) => () =>
  TextInTurn.open(
    files.openedBy((work) => work()),
    'texts',
  )

kinds.push([
  'in IndexedDB and in files',
  () => {
    const factory = new IDBFactory()
    const files = new SimulatedFiles()
    return { open: () => createSparedKeyValue(createIndexedDbKeyValue('texts', factory), openSpare(files)) }
  },
])

describe.each(kinds)('texts kept %s', (_kind, setUp) => {
  it('are there for whoever opens them next', async () => {
    const { open } = setUp()
    await open().update('a', () => 'one')
    expect(await open().get('a')).toBe('one')
    expect(await open().keys()).toEqual(['a'])
  })

  it('lose no update when many come at once from two sides', async () => {
    const { open } = setUp()
    const [left, right] = [open(), open()]
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 === 0 ? left : right).update('count', (old) => String(Number(old ?? 0) + 1)),
      ),
    )
    expect(await open().get('count')).toBe('40')
  })

  it('are gone after clearing', async () => {
    const { open } = setUp()
    await open().update('a', () => 'one')
    await open().clear()
    expect(await open().get('a')).toBeUndefined()
  })
})

describe('texts with a copy in files', () => {
  it('are put back when the browser has thrown its databases away, also after a loss of power', async () => {
    const files = new SimulatedFiles()
    const first = createSparedKeyValue(createMemoryKeyValue(), openSpare(files))
    await first.update('a', () => 'one')
    await first.update('b', () => 'two')
    await first.update('a', (old) => `${old} and more`)
    files.losePower()
    const next = createSparedKeyValue(createMemoryKeyValue(), openSpare(files))
    expect(await next.get('a')).toBe('one and more')
    expect(await next.keys()).toEqual(['a', 'b'])
  })

  it('are not put back after they were cleared', async () => {
    const files = new SimulatedFiles()
    const first = createSparedKeyValue(createMemoryKeyValue(), openSpare(files))
    await first.update('a', () => 'one')
    await first.clear()
    expect(await createSparedKeyValue(createMemoryKeyValue(), openSpare(files)).keys()).toEqual([])
  })

  it('go by the database where that has some', async () => {
    const files = new SimulatedFiles()
    await createSparedKeyValue(createMemoryKeyValue(), openSpare(files)).update('a', () => 'old')
    const database = createMemoryKeyValue()
    await database.update('a', () => 'new')
    expect(await createSparedKeyValue(database, openSpare(files)).get('a')).toBe('new')
    expect(await createSparedKeyValue(createMemoryKeyValue(), openSpare(files)).get('a')).toBe('new')
  })

  it('that are torn in the file are those from before', async () => {
    const files = new SimulatedFiles()
    const first = createSparedKeyValue(createMemoryKeyValue(), openSpare(files))
    for (const text of ['one', 'two']) await first.update('a', () => text)
    const newest = [...files.files.values()].find(({ seen }) => new TextDecoder().decode(seen).includes('two'))
    newest?.seen.fill(0, 10)
    expect(await createSparedKeyValue(createMemoryKeyValue(), openSpare(files)).get('a')).toBe('one')
  })

  it('are kept where there are no files', async () => {
    const texts = createSparedKeyValue(createMemoryKeyValue(), () => Promise.reject(new Error('no files')))
    await texts.update('a', () => 'one')
    expect(await texts.get('a')).toBe('one')
  })
})
