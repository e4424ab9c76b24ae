import { describe, expect, test } from 'vitest'
import { CallLost } from '#worker/leader/call-channel.ts'
import { Relay } from '#worker/leader/relay.ts'
import { createManualTimers } from '../../support/durable.ts'

const openRelay = () => {
  const timers = createManualTimers()
  const relay = new Relay(timers, {
    isReadOnly: (method) => method === 'read',
    isSubscription: (method) => method === 'subscribe',
    lostAnswer: (method, wasSent) => `${method} lost, ${wasSent ? 'perhaps done' : 'not done'}`,
  })
  return { relay, timers }
}

const answering = (answer: unknown) => {
  const calls: string[] = []
  return { calls, call: (method: string) => (calls.push(method), Promise.resolve(answer)) }
}

describe('a relay', () => {
  test('keeps a call until there is a leader and then sends it once', async () => {
    const { relay, timers } = openRelay()
    const answer = relay.call('write', [])
    const target = answering('done')
    relay.setTarget(target)
    expect(await answer).toBe('done')
    expect(target.calls).toEqual(['write'])
    expect(timers.count).toBe(0)
  })

  test('says that nothing was done when no leader is found', async () => {
    const { relay, timers } = openRelay()
    const answers = [relay.call('write', []), relay.call('read', [])]
    timers.fire()
    expect(await Promise.all(answers)).toEqual(['write lost, not done', 'read lost, not done'])
  })

  test('does not hide a failure that the leader itself reports', async () => {
    const { relay } = openRelay()
    relay.setTarget({ call: () => Promise.reject(new Error('impossible')) })
    await expect(relay.call('read', [])).rejects.toThrow('impossible')
  })

  test('asks a leader that is lost only once, however often it is asked to read', async () => {
    const { relay } = openRelay()
    let asked = 0
    relay.setTarget({ call: (method) => (asked++, Promise.reject(new CallLost(method))) })
    const answer = relay.call('read', [])
    await Promise.resolve()
    const next = answering('read')
    relay.setTarget(next)
    expect(await answer).toBe('read')
    expect(asked).toBe(1)
  })

  test('opens a subscription once at each leader', async () => {
    const { relay } = openRelay()
    let ended = 0
    const first = answering(() => ended++)
    const opening = relay.call('subscribe', [() => undefined])
    relay.setTarget(first)
    const end = (await opening) as () => void
    const second = answering(() => ended++)
    relay.setTarget(null)
    relay.setTarget(second)
    await Promise.resolve()
    expect([first.calls, second.calls]).toEqual([['subscribe'], ['subscribe']])
    end()
    expect(ended).toBe(1)
    const third = answering(undefined)
    relay.setTarget(third)
    expect(third.calls).toEqual([])
  })
})
