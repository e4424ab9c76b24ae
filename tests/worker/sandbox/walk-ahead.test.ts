import type { PhaseOutcome } from '#engine/ports/sandbox.ts'
import type { FollowingJob } from '#worker/sandbox/phase-link.ts'
import { createWalkAhead } from '#worker/sandbox/walk-ahead.ts'
import { describe, expect, test } from 'vitest'

const APPLIED = '{"status":"applied","result":null}'
const NONE = '{"status":"none"}'
const returned = (value?: string): { outcome: PhaseOutcome } => ({ outcome: { kind: 'returned', value } })
const prepared = (...ids: string[]): string =>
  JSON.stringify({ reservations: ids.length > 0 ? [{ topic: 't', ids }] : [], data: ids })
const asked = { lastCall: { id: 1, op: 'send', args: '[]' } }

const lookAt = (ids: readonly string[], { limit = 1, isAll = true } = {}): NonNullable<FollowingJob['look']> => ({
  op: 'topics.peek',
  args: '["t"]',
  topic: 't',
  limit,
  events: ids.map((id) => ({ id, text: `"${id}"` })),
  isAll,
})

const walkOf = (parts: Partial<FollowingJob>, firstArgument = '"s0"') =>
  createWalkAhead(
    {
      hasMutate: true,
      hasNext: true,
      goesOnWithMutate: true,
      goesOnWithNext: true,
      state: '"s0"',
      outcome: APPLIED,
      attempts: 8,
      seed: [0, 0],
      look: lookAt(['a', 'b', 'c']),
      ...parts,
    },
    firstArgument,
  )

describe('the way ahead', () => {
  test('leads from phase to phase and from one event to the next', () => {
    const walk = walkOf({})
    expect(walk.after('prepare', returned(prepared('a')))).toEqual({ phase: 'mutate', args: [prepared('a')] })
    expect(walk.after('mutate', asked)).toEqual({ phase: 'next', args: [prepared('a'), APPLIED] })
    expect(walk.after('next', returned('"s1"'))).toEqual({
      phase: 'prepare',
      args: ['"s1"'],
      foreseen: { op: 'topics.peek', args: '["t"]', value: '["b"]' },
    })
    expect(walk.after('prepare', returned(prepared('b')))).toEqual({ phase: 'mutate', args: [prepared('b')] })
    expect(walk.after('mutate', returned())).toEqual({ phase: 'next', args: [prepared('b'), NONE] })
    // A next that returns nothing leaves the state as it was.
    expect(walk.after('next', returned())).toMatchObject({
      phase: 'prepare',
      args: ['"s1"'],
      foreseen: { value: '["c"]' },
    })
  })

  test('leads past the phases that a handler does not have', () => {
    const withoutMutate = walkOf({ hasMutate: false })
    expect(withoutMutate.after('prepare', returned(prepared('a')))).toEqual({
      phase: 'next',
      args: [prepared('a'), NONE],
    })
    const withoutNext = walkOf({ hasNext: false })
    withoutNext.after('prepare', returned(prepared('a')))
    expect(withoutNext.after('mutate', asked)).toMatchObject({ phase: 'prepare', args: ['"s0"'] })
    const withNeither = walkOf({ hasMutate: false, hasNext: false })
    expect(withNeither.after('prepare', returned(prepared('a')))).toMatchObject({ phase: 'prepare' })
  })

  test('shows each prepare what the one before it left', () => {
    const walk = walkOf({ hasMutate: false, hasNext: false, look: lookAt(['a', 'b', 'c', 'd', 'e'], { limit: 3 }) })
    const shown = ['a', 'd', 'b'].map((id) => walk.after('prepare', returned(prepared(id)))?.foreseen?.value)
    expect(shown).toEqual(['["b","c","d"]', '["b","c","e"]', '["c","e"]'])
  })

  test('leads from next to the event after it', () => {
    const walk = walkOf({ look: lookAt(['b']) }, prepared('a'))
    expect(walk.after('next', returned('"s1"'))).toMatchObject({ phase: 'prepare', args: ['"s1"'] })
  })

  test.each([
    ['where nothing was reserved', {}, ['prepare', returned(prepared())]],
    ['where a prepare returned nothing', {}, ['prepare', returned()]],
    ['where what a prepare returned is no object', {}, ['prepare', returned('null')]],
    ['where a phase failed', {}, ['mutate', { outcome: { kind: 'ended' } }]],
    ['where the outcome of a mutation cannot be guessed', { outcome: undefined }, ['mutate', asked]],
    ['where mutate had better be left alone', { goesOnWithMutate: false }, ['prepare', returned(prepared('a'))]],
    ['where next had better be left alone', { goesOnWithNext: false }, ['mutate', asked]],
    ['where nothing waits', { look: lookAt([]) }, ['next', returned('1')]],
    ['where nobody can tell what waits', { look: undefined }, ['next', returned('1')]],
    [
      'where nobody can tell what would be shown',
      { look: lookAt(['a'], { limit: 2, isAll: false }) },
      ['next', returned('1')],
    ],
    ['after as many attempts as were allowed', { attempts: 0 }, ['next', returned('1')]],
    ['where a text is too long to be kept', {}, ['next', returned(`"${'x'.repeat(70_000)}"`)]],
  ] as const)('ends %s', (_where, parts, [phase, ending]) => {
    expect(walkOf(parts as Partial<FollowingJob>, prepared('z')).after(phase, ending as never)).toBeUndefined()
  })
})
