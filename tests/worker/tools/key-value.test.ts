import { IDBFactory } from 'fake-indexeddb'
import { describe, expect, it } from 'vitest'
import { createIndexedDbKeyValue } from '#worker/tools/indexeddb-key-value.ts'
import { createMemoryKeyValue, type KeyValue } from '#worker/tools/key-value.ts'

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
