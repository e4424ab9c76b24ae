import { expect, test } from 'vitest'
import { gzip } from '#worker/gzip.ts'

test('what is compressed is smaller, is gzip, and comes back the same', async () => {
  const text = JSON.stringify({ words: Array.from({ length: 500 }, (_, n) => `Größe ${n % 7} 😀`) })
  const bytes = await gzip.compress(text)
  expect([bytes[0], bytes[1]]).toEqual([0x1f, 0x8b])
  expect(bytes.length).toBeLessThan(text.length / 10)
  expect(await gzip.decompress(bytes)).toBe(text)
})

test('what is no gzip is refused', async () => {
  await expect(gzip.decompress(new Uint8Array([1, 2, 3]))).rejects.toThrow()
})
