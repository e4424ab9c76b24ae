import { expect, test } from 'vitest'
import { memoryGrowth } from './memory-growth.ts'

test('ten thousand phases of all kinds leave no memory behind', async () => {
  const grown = await memoryGrowth(10_000)
  console.log(`held after 10,000 phases: ${(grown / 1024).toFixed(0)} KiB more than before`)
  expect(grown).toBeLessThan(2 * 1024 * 1024)
})
