import type { launchRawChromium, RawTab } from './raw-chromium.ts'

type Chromium = Awaited<ReturnType<typeof launchRawChromium>>

export const endings = ['closes', 'crashes', 'freezes'] as const
export type Ending = (typeof endings)[number]

interface Info {
  role: 'leader' | 'follower'
  epoch: number
}

export interface Takeover {
  before: Info
  after: Info
  /** From the end of the old leader to the first answer of the new one, seen from outside. */
  ms: number
  leader: RawTab
  follower: RawTab
}

/** The application itself in a tab, up to its first answer. */
export const openApp = async (chromium: Chromium, url: string): Promise<RawTab> => {
  const tab = await chromium.openTab('about:blank')
  await tab.open(url)
  await tab.evaluate(`new Promise((resolve) => {
    const look = () => (globalThis.holdfast ? resolve(null) : setTimeout(look, 20))
    look()
  })`)
  await infoOf(tab)
  return tab
}

export const infoOf = (tab: RawTab): Promise<Info> =>
  tab.evaluate<Info>(`holdfast.engineInfo().then((info) => {
    if (!info.ok) throw new Error(info.error.message)
    return { role: info.value.role, epoch: info.value.epoch }
  })`)

/** A tab in front cannot be frozen, and the last one opened is in front: the follower. */
const end: Record<Ending, (leader: RawTab) => Promise<unknown>> = {
  closes: (leader) => leader.send('Page.close'),
  crashes: (leader) => {
    // Nobody answers who has crashed.
    leader.send('Page.crash').catch(() => undefined)
    return Promise.resolve()
  },
  freezes: (leader) => leader.send('Page.setWebLifecycleState', { state: 'frozen' }),
}

/** The leader ends, and at the same moment its follower is asked something: the answer comes from the successor. */
export const takeOver = async (
  { leader, follower }: { leader: RawTab; follower: RawTab },
  ending: Ending,
): Promise<Takeover> => {
  const before = await infoOf(follower)
  const endedAt = performance.now()
  await end[ending](leader)
  let after = await infoOf(follower)
  // What was asked before the end was noticed may still have been answered by the old one.
  while (after.epoch === before.epoch) after = await infoOf(follower)
  return { before, after, ms: performance.now() - endedAt, leader, follower }
}
