import type { Guess } from '#worker/sandbox/guess.ts'
import { createGuessLuck } from '#worker/sandbox/guess-luck.ts'
import { createGuesses } from '#worker/sandbox/guesses.ts'
import { expect, test } from 'vitest'
import { phaseRequest } from '../../support/phase.ts'

const HANDLER = { scriptId: 'scr', handler: 'c' }
const nothing = (): void => undefined

const guessFor = (workflowId: string, wouldFit = true): Guess => ({
  request: phaseRequest('', { ...HANDLER, workflowId }),
  phase: 'prepare',
  claim: () => wouldFit,
  settle: nothing,
})

test('what was run ahead for workflows that never ask again is kept within bounds', () => {
  const guesses = createGuesses(createGuessLuck())
  for (let n = 0; n < 100; n += 1) guesses.put(guessFor(`wf_${n}`))
  const isKept = (n: number): boolean => guesses.claim(phaseRequest('', { workflowId: `wf_${n}` }), nothing, nothing)
  const kept = Array.from({ length: 100 }, (_each, n) => n).filter(isKept)
  expect(kept).toEqual(Array.from({ length: 64 }, (_each, n) => 36 + n))
})

test('a guess is good for one phase', () => {
  const guesses = createGuesses(createGuessLuck())
  guesses.put(guessFor('wf'))
  const claim = (): boolean => guesses.claim(phaseRequest('', { workflowId: 'wf' }), nothing, nothing)
  expect([claim(), claim()]).toEqual([true, false])
})

test('a handler is left alone for longer the more often it was guessed wrong, and no more once it was guessed right', () => {
  const luck = createGuessLuck()
  const restsAfterMiss = (): number => {
    luck.missed(HANDLER)
    let rests = 0
    while (!luck.isDue(HANDLER)) rests += 1
    return rests
  }
  expect(Array.from({ length: 9 }, restsAfterMiss)).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64])
  luck.missed(HANDLER)
  luck.hit(HANDLER)
  expect(luck.isDue(HANDLER)).toBe(true)
  expect(restsAfterMiss()).toBe(1)
})
