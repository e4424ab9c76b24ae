import { createFairQueue } from '#worker/sandbox/fair-queue.ts'
import { expect, test } from 'vitest'

const drain = (queue: ReturnType<typeof createFairQueue<string>>) => {
  const order: string[] = []
  while (queue.size > 0) order.push(queue.take(() => 0) ?? '')
  return order
}

test('workflows take turns, however much one of them wants', () => {
  const queue = createFairQueue<string>()
  for (let i = 0; i < 4; i += 1) queue.put('greedy', `g${i}`)
  queue.put('modest', 'm0')
  queue.put('late', 'l0')
  expect(drain(queue)).toEqual(['g0', 'm0', 'l0', 'g1', 'g2', 'g3'])
})

test('whoever has least under way comes first', () => {
  const queue = createFairQueue<string>()
  queue.put('busy', 'b0')
  queue.put('idle', 'i0')
  expect(queue.take((key) => (key === 'busy' ? 3 : 0))).toBe('i0')
})

test('the tasks of one workflow keep their order', () => {
  const queue = createFairQueue<string>()
  for (const item of ['1', '2', '3']) queue.put('one', item)
  expect(drain(queue)).toEqual(['1', '2', '3'])
  expect(queue.take(() => 0)).toBeUndefined()
})

test('what is cleared is handed back', () => {
  const queue = createFairQueue<string>()
  queue.put('a', '1')
  queue.put('b', '2')
  expect(queue.clear()).toEqual(['1', '2'])
  expect(queue.size).toBe(0)
})
