import { createGroup, type Group } from '#engine/runtime/transitions/group.ts'
import { beforeEach, expect, test } from 'vitest'

let heard: string[]
let group: Group
beforeEach(() => {
  heard = []
  group = createGroup({
    together: (work) => {
      const value = work()
      heard.push('COMMIT')
      return value
    },
  })
})

const say = (word: string) => (): void => {
  heard.push(word)
}

test('what comes after the COMMIT comes in the order in which it was asked for, and at once where no group is open', () => {
  const done = group.inOneCommit(() => {
    group.afterCommit(say('one'))
    group.afterCommit(say('two'))
    return 7
  })
  group.afterCommit(say('three'))
  expect(done).toEqual({ ok: true, value: 7 })
  expect(heard).toEqual(['COMMIT', 'one', 'two', 'three'])
})

test('nothing comes after a group that was rolled back, neither then nor after the next one', () => {
  const thrown = new Error('no')
  const failed = group.inOneCommit(() => {
    group.afterCommit(say('never'))
    throw thrown
  })
  group.inOneCommit(() => {
    group.afterCommit(say('later'))
  })
  expect(failed).toEqual({ ok: false, error: thrown })
  expect(heard).toEqual(['COMMIT', 'later'])
})

test('what was changed several times is put back as it was before the group, and stays where nothing is rolled back', () => {
  let kept = 0
  const change = (to: number): void => {
    group.unlessRolledBack(() => {
      const before = kept
      return () => (kept = before)
    })
    kept = to
  }
  group.inOneCommit(() => {
    change(1)
  })
  group.inOneCommit(() => {
    change(2)
    change(3)
    throw new Error('no')
  })
  expect(kept).toBe(1)
  change(4)
  expect(kept).toBe(4)
})
