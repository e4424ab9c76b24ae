import type { ForeseenAnswer } from '#engine/ports/sandbox.ts'
import { textOfLook } from '#engine/script/topic-look.ts'
import { createFirstCalls } from '#worker/sandbox/first-calls.ts'
import { followingJob } from '#worker/sandbox/following-job.ts'
import { createGuessLuck } from '#worker/sandbox/guess-luck.ts'
import { createUsualOutcomes } from '#worker/sandbox/usual-outcomes.ts'
import { expect, test } from 'vitest'
import { phaseRequest } from '../../support/phase.ts'

/** After `next` of a handler that shows one event at a time and has been lucky for long: what was read of the topic for it. */
const follow = (eventChars: number, waiting = 100) => {
  const read: number[] = []
  const foresee = (_op: string, _args: string, beyond = 0): ForeseenAnswer => {
    const count = Math.min(1 + beyond, waiting)
    read.push(count)
    const events = Array.from({ length: count }, (_, n) => ({ id: String(n), text: 'x'.repeat(eventChars) }))
    const look = { topic: 't', limit: 1, events, isAll: count < 1 + beyond }
    return { value: textOfLook(look), taken: () => undefined, look }
  }
  const request = phaseRequest('', { phase: 'next', handler: 'c' })
  const firstCalls = createFirstCalls()
  firstCalls.learn({ ...request, phase: 'prepare' }, [{ id: 1, op: 'topics.peek', args: '["t",{"limit":1}]' }])
  const luck = createGuessLuck()
  for (let n = 0; n < 5; n += 1) luck.hit(request, 'prepare')
  const job = followingJob(
    { ...request, then: { hasMutate: true, hasNext: true, state: 'null', foresee } },
    { firstCalls, luck, usualOutcomes: createUsualOutcomes(), mostAttempts: () => 32, isHeldUp: () => false },
  )
  return { read, shown: job?.look?.events.length, isAll: job?.look?.isAll }
}

test('as many events are looked at as may be needed', () => {
  expect(follow(100)).toEqual({ read: [1, 32], shown: 32, isAll: false })
  expect(follow(100, 5)).toEqual({ read: [1, 5], shown: 5, isAll: true })
})

test('events that would have no room are not even read', () => {
  expect(follow(20_000)).toEqual({ read: [1, 3], shown: 3, isAll: false })
  expect(follow(40_000)).toEqual({ read: [1], shown: 1, isAll: false })
  expect(follow(100_000)).toEqual({ read: [1], shown: undefined, isAll: undefined })
})
