import { createGuessLuck } from '#worker/sandbox/guess-luck.ts'
import { expect, test } from 'vitest'

const HANDLER = { scriptId: 'scr', handler: 'c' }

test('a handler is left alone for longer the more often it was guessed wrong, and no more once it was guessed right', () => {
  const luck = createGuessLuck()
  const restsAfterMiss = (): number => {
    luck.missed(HANDLER, 'prepare')
    let rests = 0
    while (luck.attemptsAhead(HANDLER, 'prepare') === 0) rests += 1
    return rests
  }
  expect(Array.from({ length: 9 }, restsAfterMiss)).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64])
  luck.missed(HANDLER, 'prepare')
  luck.hit(HANDLER, 'prepare')
  expect(luck.attemptsAhead(HANDLER, 'prepare')).toBeGreaterThan(0)
  expect(restsAfterMiss()).toBe(1)
})

test('a handler is run further ahead the more often it was guessed right, within bounds, and no further once it was not', () => {
  const luck = createGuessLuck()
  const attempts = Array.from({ length: 8 }, () => {
    const ahead = luck.attemptsAhead(HANDLER, 'prepare')
    luck.hit(HANDLER, 'prepare')
    return ahead
  })
  expect(attempts).toEqual([1, 2, 4, 8, 16, 32, 32, 32])
  luck.missed(HANDLER, 'prepare')
  expect([luck.attemptsAhead(HANDLER, 'prepare'), luck.attemptsAhead(HANDLER, 'prepare')]).toEqual([0, 1])
})

test('what is known of one handler is not forgotten because many are known', () => {
  const luck = createGuessLuck()
  for (let n = 0; n < 256; n += 1) luck.hit({ ...HANDLER, scriptId: `scr_${n}` }, 'prepare')
  luck.hit({ ...HANDLER, scriptId: 'scr_9' }, 'prepare')
  expect(luck.attemptsAhead({ ...HANDLER, scriptId: 'scr_8' }, 'prepare')).toBe(2)
})

test('bad luck with one phase is not held against the other', () => {
  const luck = createGuessLuck()
  luck.missed(HANDLER, 'next')
  expect([luck.attemptsAhead(HANDLER, 'next'), luck.attemptsAhead(HANDLER, 'prepare')]).toEqual([0, 1])
})
