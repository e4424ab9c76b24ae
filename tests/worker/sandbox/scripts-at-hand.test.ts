import { createScriptsAtHand } from '#worker/sandbox/scripts-at-hand.ts'
import { expect, test } from 'vitest'

test('the script that was not asked for the longest makes room for a new one', () => {
  const scripts = createScriptsAtHand()
  const ids = Array.from({ length: 16 }, (_, n) => `scr_${n}`)
  expect(ids.map((id) => scripts.add(id))).toEqual(ids.map(() => undefined))
  expect(scripts.has('scr_0')).toBe(true)
  expect(scripts.add('scr_new')).toBe('scr_1')
  expect(['scr_0', 'scr_1', 'scr_new'].map((id) => scripts.has(id))).toEqual([true, false, true])
})
