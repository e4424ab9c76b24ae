import { expect, test } from 'vitest'
import { memoryGrowth } from './memory-growth.ts'

test('a thousand phases of all kinds leave no memory behind', async () => {
  expect(await memoryGrowth(1_000)).toBeLessThan(2 * 1024 * 1024)
}, 120_000)
