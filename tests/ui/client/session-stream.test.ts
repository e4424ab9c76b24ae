import { describe, expect, test } from 'vitest'
import type { SessionEvent } from '#engine/model/session.ts'
import type { EngineApi } from '#worker/api.ts'
import { createSessionStream } from '#ui/client/session-stream.ts'

const eventOf = (id: number): SessionEvent => ({
  id,
  sessionId: 'sess_1',
  timestamp: 1,
  eventType: 'agent_started',
  agentId: null,
  data: {},
})

/** An engine with a trail that grows, and answers as late as the test wants. */
const openTrail = () => {
  const trail: SessionEvent[] = []
  const listeners = new Set<() => void>()
  let before: (() => Promise<void>) | null = null
  const engine: Pick<EngineApi, 'listSessionEvents'> = {
    listSessionEvents: async (id, { after = 0, limit = 100 } = {}) => {
      if (id !== 'sess_1') return { ok: false, error: { code: 'not_found', message: 'There is no such session.' } }
      const value = trail.filter((event) => event.id > after).slice(0, limit)
      await before?.()
      return { ok: true, value }
    },
  }
  return {
    stream: createSessionStream(engine, (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }),
    listeners,
    grow: (count: number) => {
      for (let n = 0; n < count; n += 1) trail.push(eventOf(trail.length + 1))
      for (const listener of [...listeners]) listener()
    },
    hold: (wait: (() => Promise<void>) | null) => {
      before = wait
    },
  }
}

const turns = async (): Promise<void> => {
  for (let n = 0; n < 50; n += 1) await Promise.resolve()
}

const idsUpTo = (last: number, from = 1): number[] => Array.from({ length: last - from + 1 }, (_, n) => from + n)

describe('somebody who listens to a session', () => {
  test('hears what was and what comes, each once and in order, however much there is', async () => {
    const { stream, grow } = openTrail()
    grow(1200)
    const heard: number[] = []
    await stream.subscribeSession('sess_1', 0, (events) => heard.push(...events.map(({ id }) => id)))
    await turns()
    grow(3)
    await turns()
    grow(700)
    await turns()
    expect(heard).toEqual(idsUpTo(1903))
  })

  test('can go on after any event', async () => {
    const { stream, grow } = openTrail()
    grow(10)
    const heard: number[] = []
    await stream.subscribeSession('sess_1', 7, (events) => heard.push(...events.map(({ id }) => id)))
    grow(1)
    await turns()
    expect(heard).toEqual([8, 9, 10, 11])
  })

  test('misses nothing that comes while an answer is on its way', async () => {
    const { stream, grow, hold } = openTrail()
    const heard: number[] = []
    let grown = 0
    hold(() => {
      if (grown < 5) {
        grown += 1
        grow(1)
      }
      return Promise.resolve()
    })
    await stream.subscribeSession('sess_1', 0, (events) => heard.push(...events.map(({ id }) => id)))
    await turns()
    expect(heard).toEqual(idsUpTo(5))
  })

  test('goes on after an answer was lost, and stops when he wants', async () => {
    const { stream, grow, hold, listeners } = openTrail()
    const heard: number[] = []
    const subscribed = await stream.subscribeSession('sess_1', 0, (events) => heard.push(...events.map(({ id }) => id)))
    hold(() => Promise.reject(new Error('The leader is gone.')))
    grow(2)
    await turns()
    expect(heard).toEqual([])
    hold(null)
    grow(1)
    await turns()
    expect(heard).toEqual([1, 2, 3])
    if (subscribed.ok) subscribed.value()
    grow(1)
    await turns()
    expect(heard).toEqual([1, 2, 3])
    expect(listeners.size).toBe(0)
  })

  test('is told at once when there is no such session', async () => {
    const { stream, listeners } = openTrail()
    expect(await stream.subscribeSession('sess_2', 0, () => undefined)).toMatchObject({
      ok: false,
      error: { code: 'not_found' },
    })
    expect(listeners.size).toBe(0)
  })
})
