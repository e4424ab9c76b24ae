import { IDBFactory } from 'fake-indexeddb'
import { get, set } from 'idb-keyval'
import { expect, test, vi } from 'vitest'
import { createStrictStore } from '#worker/strict-store.ts'

/** Sees how each transaction is opened. */
const openSeen = () => {
  const factory = new IDBFactory()
  const seen: unknown[] = []
  const open = factory.open.bind(factory)
  const opening = vi.spyOn(factory, 'open').mockImplementation((name, version) => {
    const request = open(name, version)
    request.addEventListener('success', () => {
      const begin = request.result.transaction.bind(request.result)
      request.result.transaction = (stores, mode, options) => {
        seen.push([mode, options])
        return begin(stores, mode, options)
      }
    })
    return request
  })
  return { factory, seen, opening }
}

test('what is put into a strict store is written by strict transactions, and is there for the next one', async () => {
  const { factory, seen } = openSeen()
  await set('folder', { name: 'backups' }, createStrictStore('settings', factory))
  expect(seen).toEqual([['readwrite', { durability: 'strict' }]])
  expect(await get('folder', createStrictStore('settings', factory))).toEqual({ name: 'backups' })
})

test('a store that did not open once is opened again by the next use', async () => {
  const { factory, opening } = openSeen()
  opening.mockImplementationOnce(() => {
    throw new DOMException('The disk is not there.', 'UnknownError')
  })
  const store = createStrictStore('settings', factory)
  await expect(set('key', 1, store)).rejects.toThrow('not there')
  await set('key', 2, store)
  expect(await get('key', store)).toBe(2)
})

test('a store lets a newer version in, and is opened again by the next use', async () => {
  const { factory } = openSeen()
  const store = createStrictStore('settings', factory)
  await set('key', 1, store)
  await new Promise<void>((resolve, reject) => {
    const request = factory.open('settings', 5)
    request.onblocked = () => reject(new Error('It does not let go.'))
    request.onsuccess = () => {
      request.result.close()
      resolve()
    }
  })
  expect(await get('key', store)).toBe(1)
})
