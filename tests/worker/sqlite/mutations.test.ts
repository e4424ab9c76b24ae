import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '#engine/ports/store.ts'
import { buildMutation, insertActiveRun } from '../../support/build-rows.ts'
import { openTestStore } from '../../support/open-test-store.ts'

let store: Store
beforeEach(async () => {
  store = (await openTestStore()).store
})

describe('mutations', () => {
  beforeEach(() => store.transaction((tx) => insertActiveRun(tx)))

  test('a mutation is read back by its id and by its run', () => {
    const mutation = buildMutation()
    store.transaction((tx) => tx.mutations.insert(mutation))
    expect(store.mutations.get('mut_1')).toEqual(mutation)
    expect(store.mutations.ofHandlerRun('hr_1')).toEqual(mutation)
    expect(store.mutations.ofHandlerRun('hr_2')).toBeUndefined()
  })

  test('an update changes what it names and leaves its time', () => {
    store.transaction((tx) => {
      tx.mutations.insert(buildMutation())
      tx.mutations.update('mut_1', { status: 'indeterminate', error: 'timed out' }, 2)
      tx.mutations.update('mut_1', { status: 'applied', result: '{}', resolvedBy: 'user_happened', resolvedAt: 3 }, 3)
    })
    expect(store.mutations.get('mut_1')).toEqual(
      buildMutation({
        status: 'applied',
        result: '{}',
        error: 'timed out',
        resolvedBy: 'user_happened',
        resolvedAt: 3,
        updatedAt: 3,
      }),
    )
  })

  test('a handler run cannot have a second mutation', () => {
    store.transaction((tx) => tx.mutations.insert(buildMutation()))
    expect(() => store.transaction((tx) => tx.mutations.insert(buildMutation({ id: 'mut_2' })))).toThrow(/UNIQUE/)
  })
})
