import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPeerData, startPeer, type ChildPeer, type PeerAtHand } from './child-peer.ts'

/** What a kill in the middle cost. */
export interface Aftermath {
  /** From the kill on, with the start of the process in it; null when nothing was done any more. */
  firstStepMs: number | null
  /** Null when something was lost. */
  doneMs: number | null
  stepsAgain: number
  mutationsAgain: number
  lost: number
  accepted: number
}

interface Trace {
  at: number
  step: string
  n: string
}

const PATIENCE_MS = 45_000
const HALFWAY_MS = 60_000

const readTraces = async (file: string): Promise<Trace[]> =>
  (await readFile(file, 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => /^(\d+) (\w+) (\d+)$/.exec(line))
    .flatMap((found) => (found ? [{ at: Number(found[1]), step: found[2] ?? '', n: found[3] ?? '' }] : []))

const of = (traces: readonly Trace[], step: string) => traces.filter((trace) => trace.step === step)

/** Accepted by the engine, and never finished. */
const openOf = (traces: readonly Trace[]): number => {
  const finished = new Set(of(traces, 'next').map(({ n }) => n))
  return of(traces, 'accepted').filter(({ n }) => !finished.has(n)).length
}

const repeated = (traces: readonly Trace[]): number =>
  traces.length - new Set(traces.map(({ step, n }) => `${step} ${n}`)).size

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

const untilHalfway = async (file: string, events: number) => {
  const until = Date.now() + HALFWAY_MS
  while (of(await readTraces(file), 'mutate').length < events / 2) {
    if (Date.now() > until) throw new Error('It did not come halfway in a minute.')
    await pause()
  }
}

/** Everything accepted is finished, or nothing has moved for as long as this engine may need. */
const untilSettled = async (file: string, ready: Promise<unknown>, patienceMs: number) => {
  const state = { isReady: false }
  void ready.then(() => (state.isReady = true))
  let seen = -1
  let movedAt = Date.now()
  for (;;) {
    const traces = await readTraces(file)
    if (openOf(traces) === 0) return
    if (traces.length !== seen || !state.isReady) movedAt = Date.now()
    seen = traces.length
    if (Date.now() - movedAt > patienceMs) return
    await pause()
  }
}

const judge = (traces: readonly Trace[], killedAt: number): Aftermath => {
  const steps = traces.filter(({ step }) => step !== 'accepted')
  const later = steps.filter(({ at }) => at > killedAt).map(({ at }) => at - killedAt)
  const lost = openOf(traces)
  return {
    firstStepMs: later.length > 0 ? Math.min(...later) : null,
    doneMs: lost === 0 && later.length > 0 ? Math.max(...later) : null,
    stepsAgain: repeated(steps),
    mutationsAgain: repeated(of(steps, 'mutate')),
    lost,
    accepted: of(traces, 'accepted').length,
  }
}

/** SIGKILL to the peer when half of the mutations are made, and a new one on what was left behind. */
export const killPeer = async (peer: PeerAtHand, events: number): Promise<Aftermath> => {
  const data = await createPeerData()
  const traces = join(data.folder, 'traces')
  let running: ChildPeer | undefined
  try {
    running = await startPeer(peer, { data: data.folder, traces })
    // Never answered when the kill comes before.
    running.order('accept', events).catch(() => undefined)
    await untilHalfway(traces, events)
    const killedAt = Date.now()
    await running.kill()
    running = await startPeer(peer, { data: data.folder, traces, isResumed: true })
    await untilSettled(traces, running.ready, peer.patienceMs ?? PATIENCE_MS)
    return judge(await readTraces(traces), killedAt)
  } finally {
    await running?.kill()
    await data.remove()
  }
}
