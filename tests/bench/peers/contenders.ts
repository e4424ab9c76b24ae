import { openEnginePage } from '../../support/engine-page.ts'
import { createPeerData, startPeer, type PeerAtHand } from './child-peer.ts'

export const OURS = 'Holdfast in Chromium'

/** Everything that is measured, seen alike. */
export interface Contender {
  name: string
  /** Milliseconds for so many events, one after the other. */
  one(events: number): Promise<number>
  /** Milliseconds for so many events, as many at once as allowed. */
  many(events: number): Promise<number>
  /** From asking to everything done, with the engine idle before. */
  latency(events: number): Promise<number[]>
  /** From the time something was due to its start; null for an engine that has no timers. */
  wake(count: number): Promise<number[] | null>
  close(): Promise<void>
}

export const startContender = async (peer: PeerAtHand): Promise<Contender> => {
  const data = await createPeerData()
  const child = await startPeer(peer, { data: data.folder }).catch(async (error: unknown) => {
    await data.remove()
    throw error
  })
  return {
    name: peer.name,
    one: (events) => child.order('one', events),
    many: (events) => child.order('many', events),
    latency: (events) => child.order('latency', events),
    wake: (count) => child.order('wake', count),
    close: async () => {
      await child.kill()
      await data.remove()
    },
  }
}

/** Ten seconds and a bit: every producer is due once. */
const BEAT_MS = 10_500

export const startOurs = async (): Promise<Contender> => {
  const { page, close } = await openEnginePage('peers')
  const carry = async (workflows: number, events: number) => {
    const deployed = await page.evaluate(([spread, all]) => globalThis.measured.deploy(spread, all), [
      workflows,
      events,
    ] as const)
    return page.evaluate((each) => globalThis.measured.carry(each), deployed)
  }
  let isTimed = false
  return {
    name: OURS,
    one: (events) => carry(1, events),
    many: (events) => carry(8, events),
    latency: (events) => page.evaluate((count) => globalThis.measured.latency(count), events),
    wake: async (count) => {
      if (!isTimed) await page.evaluate((workflows) => globalThis.measured.deployTimed(workflows), count)
      isTimed = true
      return page.evaluate((ms) => globalThis.measured.wakeDelays(ms), BEAT_MS)
    },
    close,
  }
}
