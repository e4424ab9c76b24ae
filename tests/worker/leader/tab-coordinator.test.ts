import { describe, expect, test } from 'vitest'
import { createTabCoordinator, type TabCoordinator } from '#worker/leader/tab-coordinator.ts'
import { SimulatedBrowser, type SimulatedTab } from '../../support/simulated-tabs.ts'

/** A stand-in for the engine, with data shared by all tabs and an owner, as on the disk. */
interface SharedData {
  epoch: number
  value: number
  writers: number[]
}

interface TestApi {
  read: () => Promise<{ value: number; epoch: number }>
  add: (amount: number) => Promise<unknown>
  addSlowly: (amount: number, ms: number) => Promise<unknown>
  readSlowly: (ms: number) => Promise<unknown>
  subscribe: (listener: (value: number) => void) => Promise<() => void>
  fail: () => Promise<never>
}

const LOST = { ok: false, error: 'leader_changed' }
const NOBODY = { ok: false, error: 'no_leader' }

const existing = <T>(each: T | undefined): T => {
  if (each === undefined) throw new Error('There is no such tab.')
  return each
}

interface TestTab {
  tab: SimulatedTab
  coordinator: TabCoordinator<TestApi>
  api: TestApi
  resign: () => void
  announceWork: (forMs: number) => void
  listeners: () => number
}

function openTestTab(browser: SimulatedBrowser, data: SharedData): TestTab {
  const tab = browser.openTab()
  let resign: () => void = () => undefined
  let announceWork: (forMs: number) => void = () => undefined
  const listeners = new Set<(value: number) => void>()
  const coordinator = createTabCoordinator<TestApi>({
    name: 'test',
    ports: tab.ports,
    isReadOnly: (method) => method.startsWith('read'),
    isSubscription: (method) => method === 'subscribe',
    lostAnswer: (_, wasSent) => (wasSent ? LOST : NOBODY),
    lead: (term) => {
      resign = term.resign
      announceWork = term.announceWork
      const epoch = ++data.epoch
      listeners.clear()
      const later = (ms: number) => new Promise<void>((resolve) => tab.ports.after(ms, resolve))
      const add = (amount: number) => {
        if (data.epoch !== epoch) {
          term.resign()
          return Promise.reject(new Error('fenced'))
        }
        data.value += amount
        data.writers.push(epoch)
        for (const listener of listeners) listener(data.value)
        return Promise.resolve({ ok: true, value: data.value })
      }
      const api: TestApi = {
        read: () => Promise.resolve({ value: data.value, epoch }),
        add,
        addSlowly: (amount, ms) => later(ms).then(() => add(amount)),
        readSlowly: (ms) => later(ms).then(() => ({ value: data.value, epoch })),
        subscribe: (listener) => {
          listeners.add(listener)
          return Promise.resolve(() => void listeners.delete(listener))
        },
        fail: () => Promise.reject(new Error('what was asked is not possible')),
      }
      return Promise.resolve({ api, close: () => listeners.clear() })
    },
  })
  return {
    tab,
    coordinator,
    api: coordinator.api,
    resign: () => resign(),
    announceWork: (forMs) => announceWork(forMs),
    listeners: () => listeners.size,
  }
}

async function openCrowd(size: number) {
  const browser = new SimulatedBrowser()
  const data: SharedData = { epoch: 0, value: 0, writers: [] }
  const tabs: TestTab[] = []
  for (let n = 0; n < size; n++) {
    tabs.push(openTestTab(browser, data))
    await browser.pass(10)
  }
  await browser.pass(500)
  const leader = () => {
    const leaders = tabs.filter(({ tab, coordinator }) => !tab.isGone && coordinator.role() === 'leader')
    expect(leaders.length).toBe(1)
    return existing(leaders[0])
  }
  const followers = () => tabs.filter((each) => !each.tab.isGone && each.coordinator.role() === 'follower')
  /** Waits in simulated time. */
  const answerOf = async <T>(call: Promise<T>, withinMs = 1): Promise<T> => {
    let answer: { value: T } | { error: unknown } | undefined
    void call.then(
      (value) => (answer = { value }),
      (error: unknown) => (answer = { error }),
    )
    for (let passed = 0; passed < withinMs && !answer; passed += 10) await browser.pass(10)
    if (!answer) throw new Error(`There was no answer within ${withinMs} ms.`)
    if ('error' in answer) throw answer.error
    return answer.value
  }
  return { browser, data, tabs, leader, followers, answerOf }
}

describe('one tab', () => {
  test('leads at once', async () => {
    const { leader, answerOf } = await openCrowd(1)
    expect(await answerOf(leader().api.read())).toEqual({ value: 0, epoch: 1 })
  })
})

describe('several tabs', () => {
  test('the first leads, the others follow and have the whole API', async () => {
    const { tabs, leader, followers, answerOf, data } = await openCrowd(4)
    expect(leader()).toBe(tabs[0])
    expect(followers().length).toBe(3)
    for (const { api } of tabs) await answerOf(api.add(1))
    expect(data).toMatchObject({ value: 4, writers: [1, 1, 1, 1], epoch: 1 })
    const [, second] = tabs
    expect(await answerOf(existing(second).api.read())).toEqual({ value: 4, epoch: 1 })
  })

  test('a failure at the leader arrives at the follower with its words', async () => {
    const { followers, answerOf } = await openCrowd(2)
    await expect(answerOf(existing(followers()[0]).api.fail())).rejects.toThrow('not possible')
    const unknown = existing(followers()[0]).api as unknown as { nothing: () => Promise<void> }
    await expect(answerOf(unknown.nothing())).rejects.toThrow('no method "nothing"')
  })

  test('what happens at the leader is heard in every tab', async () => {
    const { tabs, answerOf, leader, browser } = await openCrowd(3)
    const heard = tabs.map(() => [] as number[])
    const ends: (() => void)[] = []
    for (const [n, { api }] of tabs.entries())
      ends.push(
        await answerOf(
          api.subscribe((value) => heard[n]?.push(value)),
          50,
        ),
      )
    await answerOf(leader().api.add(5))
    await browser.pass(10)
    expect(heard).toEqual([[5], [5], [5]])
    ends[1]?.()
    await browser.pass(10)
    await answerOf(leader().api.add(1))
    await browser.pass(10)
    expect(heard).toEqual([[5, 6], [5], [5, 6]])
  })

  test('the leader forgets the listeners of a tab that is gone', async () => {
    const { browser, followers, leader, answerOf } = await openCrowd(3)
    const [one] = followers()
    await answerOf(
      existing(one).api.subscribe(() => undefined),
      50,
    )
    expect(leader().listeners()).toBe(1)
    await browser.close(existing(one).tab)
    await browser.pass(10)
    expect(leader().listeners()).toBe(0)
  })
})

describe('when the leader closes or crashes', () => {
  test('another one leads at once, and everybody follows it', async () => {
    const { browser, leader, followers, answerOf, tabs } = await openCrowd(3)
    const old = leader()
    await browser.close(old.tab)
    await browser.pass(300)
    expect(leader()).not.toBe(old)
    expect(followers().length).toBe(1)
    for (const { tab, api } of tabs) if (!tab.isGone) expect(await answerOf(api.read())).toMatchObject({ epoch: 2 })
  })

  test('a question that was under way is put to the successor', async () => {
    const { browser, leader, followers, answerOf } = await openCrowd(3)
    const [one, two] = followers()
    const asked = [existing(one).api.readSlowly(50), existing(two).api.readSlowly(50)]
    await browser.pass(10)
    await browser.close(leader().tab)
    for (const question of asked) expect(await answerOf(question, 2000)).toEqual({ value: 0, epoch: 2 })
  })

  test('a command that was under way is answered with an error and not carried out a second time', async () => {
    const { browser, leader, followers, answerOf, data } = await openCrowd(3)
    const [one, two] = followers()
    const commands = [existing(one).api.addSlowly(1, 50), existing(two).api.addSlowly(1, 50)]
    await browser.pass(10)
    await browser.close(leader().tab)
    for (const command of commands) expect(await answerOf(command, 2000)).toEqual(LOST)
    await browser.pass(1000)
    expect(data.value).toBe(0)
  })

  test('subscriptions go on at the successor without a word from the page', async () => {
    const { browser, leader, followers, answerOf, tabs } = await openCrowd(3)
    const heard = tabs.map(() => [] as number[])
    for (const [n, { api }] of tabs.entries())
      await answerOf(
        api.subscribe((value) => heard[n]?.push(value)),
        50,
      )
    await browser.close(leader().tab)
    await browser.pass(500)
    await answerOf(leader().api.add(3))
    await answerOf(existing(followers()[0]).api.add(1))
    await browser.pass(10)
    expect(heard).toEqual([[], [3, 4], [3, 4]])
  })
})

describe('when the leader freezes', () => {
  test('another one leads within two seconds, and what was asked is answered', async () => {
    const { browser, leader, answerOf, tabs } = await openCrowd(3)
    const old = leader()
    old.tab.freeze()
    const question = existing(tabs[2]).api.read()
    expect(await answerOf(question, 2000)).toEqual({ value: 0, epoch: 2 })
    const leaders = tabs.filter((each) => each !== old && each.coordinator.role() === 'leader')
    expect(leaders.length).toBe(1)
    await browser.pass(5000)
    expect(leaders.map((each) => each.coordinator.role())).toEqual(['leader'])
  })

  test('it wakes up as a follower, and what it tries to write is refused', async () => {
    const { browser, leader, answerOf, tabs, data } = await openCrowd(3)
    const old = leader()
    const slow = old.api.addSlowly(100, 200)
    old.tab.freeze()
    await browser.pass(3000)
    await answerOf(existing(tabs[1]).api.add(1))
    old.tab.thaw()
    expect(await answerOf(slow, 1000)).toEqual(LOST)
    await browser.pass(1000)
    expect(data.value).toBe(1)
    expect(old.coordinator.role()).toBe('follower')
    // Its last beats, sent before it knew, moved nobody.
    expect(data.epoch).toBe(2)
    expect(await answerOf(old.api.add(1))).toEqual({ ok: true, value: 2 })
    expect(leader()).not.toBe(old)
  })

  test('of several followers that notice in the same moment only one takes over', async () => {
    const browser = new SimulatedBrowser()
    const data: SharedData = { epoch: 0, value: 0, writers: [] }
    const tabs = Array.from({ length: 6 }, () => openTestTab(browser, data))
    await browser.pass(1000)
    expect(data.epoch).toBe(1)
    existing(tabs.find(({ coordinator }) => coordinator.role() === 'leader')).tab.freeze()
    await browser.pass(5000)
    expect(data.epoch).toBe(2)
  })

  test('a follower that was itself asleep does not take the others for frozen, whenever it fell asleep', async () => {
    for (let offset = 0; offset < 250; offset += 10) {
      const { browser, leader, followers, data } = await openCrowd(3)
      await browser.pass(offset)
      const sleeper = existing(followers()[0])
      sleeper.tab.freeze()
      await browser.pass(60_000)
      sleeper.tab.thaw()
      await browser.pass(3000)
      expect(data.epoch).toBe(1)
      expect(leader().coordinator.role()).toBe('leader')
    }
  })
})

describe('when the leader announces long work', () => {
  test('its silence is not taken for a freeze, but only for as long as it said', async () => {
    const { browser, leader, data } = await openCrowd(2)
    const old = leader()
    old.announceWork(4000)
    await browser.pass(1)
    old.tab.freeze()
    await browser.pass(4500)
    expect(data.epoch).toBe(1)
    await browser.pass(2500)
    expect(data.epoch).toBe(2)
  })
})

describe('when the leader has done its long work', () => {
  test('a freeze right after it is noticed within two seconds, whatever had been announced', async () => {
    const { browser, leader, data } = await openCrowd(2)
    const old = leader()
    old.announceWork(20_000)
    await browser.pass(500)
    old.announceWork(0)
    await browser.pass(1)
    old.tab.freeze()
    await browser.pass(2000)
    expect(data.epoch).toBe(2)
  })

  test('beats in between do not end what was announced', async () => {
    const { browser, leader, data } = await openCrowd(2)
    const old = leader()
    old.announceWork(20_000)
    await browser.pass(1000)
    old.tab.freeze()
    await browser.pass(10_000)
    expect(data.epoch).toBe(1)
  })
})

describe('when the leader learns that it was overtaken', () => {
  test('it resigns, and somebody leads again in a later term', async () => {
    const { browser, leader, tabs, answerOf, data } = await openCrowd(2)
    leader().resign()
    await browser.pass(1000)
    expect(data.epoch).toBe(2)
    for (const { api } of tabs) expect(await answerOf(api.read())).toMatchObject({ epoch: 2 })
  })
})

describe('fifty deaths', () => {
  test('with two followers and work in flight: every command happens once or is answered with an error, never twice', async () => {
    const browser = new SimulatedBrowser()
    const data: SharedData = { epoch: 0, value: 0, writers: [] }
    const tabs = [openTestTab(browser, data), openTestTab(browser, data), openTestTab(browser, data)]
    await browser.pass(1000)
    let confirmed = 0
    let uncertain = 0
    for (let death = 0; death < 50; death++) {
      const commands = tabs.flatMap(({ api }, n) => [api.add(1), api.addSlowly(1, 5 * n), api.addSlowly(1, 20)])
      // What the dying tab itself asked is lost with it.
      const dying = tabs.findIndex(({ coordinator }) => coordinator.role() === 'leader')
      const answers: unknown[] = []
      for (const [n, command] of commands.entries()) {
        if (Math.floor(n / 3) !== dying)
          void command.then(
            (answer) => answers.push(answer),
            (error: unknown) => answers.push(error),
          )
        else void command.catch(() => undefined)
      }
      await browser.pass(death % 20)
      const [dead] = tabs.splice(dying, 1)
      if (!dead) throw new Error('Nobody leads.')
      if (death % 3 === 2) dead.tab.freeze()
      else await browser.close(dead.tab)
      await browser.pass(2000)
      expect(answers.length).toBe(6)
      confirmed += answers.filter((answer) => answer !== LOST && JSON.stringify(answer) !== JSON.stringify(LOST)).length
      uncertain += answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(LOST)).length
      dead.tab.thaw()
      await browser.pass(100)
      await browser.close(dead.tab)
      tabs.push(openTestTab(browser, data))
      await browser.pass(600)
    }
    expect(uncertain).toBeGreaterThan(0)
    expect(confirmed).toBeGreaterThan(0)
    expect(data.value).toBe(data.writers.length)
    expect(data.value).toBeGreaterThanOrEqual(confirmed)
    expect(data.value).toBeLessThanOrEqual(50 * 9)
    // No writer after a later one: whoever was overtaken wrote nothing more.
    expect(data.writers).toEqual(data.writers.toSorted((a, b) => a - b))
  }, 60_000)
})
