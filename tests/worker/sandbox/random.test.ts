import { createRandom } from '#worker/sandbox/random.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const seed = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('the same seed gives the same numbers, all of them at least 0 and less than 1', () => {
  fc.assert(
    fc.property(seed, seed, (first, second) => {
      const one = createRandom([first, second])
      const other = createRandom([first, second])
      for (let i = 0; i < 50; i += 1) {
        const drawn = one()
        expect(drawn).toBe(other())
        expect(drawn >= 0 && drawn < 1).toBe(true)
      }
    }),
  )
})

test('the numbers are spread evenly', () => {
  const random = createRandom([0, 0])
  const tenths = Array.from({ length: 10_000 }, () => Math.floor(random() * 10))
  const counts = Array.from({ length: 10 }, (_, tenth) => tenths.filter((drawn) => drawn === tenth).length)
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150)
})

test('seeds that differ in either part give different numbers', () => {
  const firsts = [createRandom([0.1, 0.2]), createRandom([0.2, 0.1]), createRandom([0.1, 0.3])].map((random) =>
    random(),
  )
  expect(new Set(firsts).size).toBe(3)
})
