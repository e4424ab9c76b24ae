import { createImageCache } from '#worker/sandbox/image-cache.ts'
import { expect, test } from 'vitest'

const image = (bytes: number) => ({ statics: new Uint8Array(0), heap: new Uint8Array(0), bytes })

test('the image that was unused for longest makes room', () => {
  const cache = createImageCache(30)
  cache.put('a', image(10))
  cache.put('b', image(10))
  cache.put('c', image(10))
  cache.get('a')
  cache.put('d', image(10))
  expect(['a', 'b', 'c', 'd'].filter((id) => cache.get(id) !== undefined)).toEqual(['a', 'c', 'd'])
  expect(cache.bytes).toBe(30)
})

test('an image that replaces another counts once', () => {
  const cache = createImageCache(30)
  cache.put('a', image(20))
  cache.put('a', image(15))
  expect(cache.bytes).toBe(15)
})

test('an image beyond the whole budget is not kept', () => {
  const cache = createImageCache(30)
  cache.put('a', image(10))
  cache.put('huge', image(31))
  expect(cache.get('huge')).toBeUndefined()
  expect(cache.bytes).toBe(0)
})
