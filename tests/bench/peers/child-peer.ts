import { fork, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromiumArguments, chromiumPath } from '../../support/launch-chromium.ts'

export interface PeerAtHand {
  name: string
  folder: string
  script: string
  execPath: string
  packages: string[]
  setup: string
  patienceMs?: number
  eventsToKill?: number
  startMs?: number
  isQueue?: boolean
}

export interface ChildPeer {
  /** Rejects when the peer fails, ends, or takes too long: none may hold up the others. */
  order: <T>(name: string, count: number) => Promise<T>
  /** Of a peer that was killed before: it may work, and be done, before it is ready for orders. */
  ready: Promise<unknown>
  /** SIGKILL to the peer and everything it started. */
  kill: () => Promise<void>
}

const START_MS = 60_000
const ORDER_MS = 90_000

export const peersAtHand = (): PeerAtHand[] => JSON.parse(process.env['PEERS'] ?? '[]') as PeerAtHand[]

export const peersLeftOut = (): string[] => JSON.parse(process.env['PEERS_LEFT_OUT'] ?? '[]') as string[]

/** A place for what a peer keeps. */
export const createPeerData = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-peer-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) }
}

const within = async <T>(answer: Promise<T>, ms: number, what: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms / 1000} s.`)), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

const answerOf = (child: ChildProcess): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`The peer ended with ${String(code)}.`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as Record<string, unknown>)
    })
  })

const startChild = async ({ folder, script, execPath }: PeerAtHand, env: Record<string, string>) =>
  fork(join(folder, script), {
    execPath,
    cwd: folder,
    // A group of its own: what it starts dies with it.
    detached: true,
    env: {
      ...process.env,
      // Of the test runner that we are: n8n, for one, does next to nothing when it takes itself for tested.
      NODE_ENV: 'production',
      VITEST: undefined,
      PEER_CHROMIUM: await chromiumPath(),
      PEER_CHROMIUM_ARGUMENTS: JSON.stringify(chromiumArguments),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })

const createKill = (child: ChildProcess) => {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return async () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It ended by itself, and everything it started with it.
    }
    await exited
  }
}

/** With `traces`, every step leaves a line in that file. */
export const startPeer = async (
  peer: PeerAtHand,
  { data, traces, isResumed = false }: { data: string; traces?: string; isResumed?: boolean },
): Promise<ChildPeer> => {
  const child = await startChild(peer, {
    PEER_DATA: data,
    ...(traces === undefined ? {} : { PEER_TRACES: traces }),
    ...(isResumed ? { PEER_RESUME: '1' } : {}),
  })
  const kill = createKill(child)
  const ready = within(answerOf(child), peer.startMs ?? START_MS, 'Starting')
  const settled = ready.catch(async (error: unknown) => {
    await kill()
    if (!isResumed) throw error
  })
  if (!isResumed) await settled
  return {
    ready: settled,
    order: async <T>(name: string, count: number): Promise<T> => {
      const answer = answerOf(child)
      child.send({ order: name, count })
      const { measured, failed } = await within(answer, ORDER_MS, `"${name}"`)
      if (typeof failed === 'string') throw new Error(failed)
      return measured as T
    },
    kill,
  }
}
