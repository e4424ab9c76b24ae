import type { JsonText } from '#engine/model/json.ts'
import type { FollowingPhases, HostReply, PhaseHost, PhaseRequest, TopicLook } from '#engine/ports/sandbox.ts'
import type { RandomSeed } from './random.ts'

export interface HostCall {
  id: number
  op: string
  args: JsonText
}

/** A phase as data: what can be sent to another thread. Time and chance come with it and with every reply. */
export interface PhaseJob extends Omit<PhaseRequest, 'host' | 'then'> {
  now: number
  seed: RandomSeed
  /** What the script will probably ask for first, and the answer to it. */
  foreseen?: ForeseenCall
  then?: FollowingJob
}

/** What is to be run ahead when a phase is over. It has chance of its own, so that it can be replayed too. */
export interface FollowingJob extends Omit<FollowingPhases, 'foresee'> {
  /** At most so many are begun. */
  attempts: number
  /** False while that phase of this handler had better be left alone. */
  goesOnWithMutate: boolean
  goesOnWithNext: boolean
  seed: RandomSeed
  /** What `prepare` will probably ask for first, and what the topic would show it. */
  look?: ForeseenLook
  /** What `next` will probably be told of a mutation that was made. */
  outcome?: JsonText
}

export interface ForeseenLook extends TopicLook {
  op: string
  args: JsonText
}

/**
 * A phase that looks at the time may plan by it: so long it may lie until it is asked for. And for so long a thread runs ahead in
 * all, since others may wait for it.
 */
export const FRESH_MS = 50
/** Longer texts are neither kept for a phase that may never be asked for nor sent along for it. */
export const MOST_AHEAD_CHARS = 64 * 1024
/** What a thread has to tell is held back for the next message up to here. */
export const MOST_HELD_CHARS = 256 * 1024

export interface ForeseenCall {
  op: string
  args: JsonText
  value: JsonText
}

/** What a thread keeps of a script from one phase to the next. */
export type KnownScript = Pick<PhaseJob, 'code' | 'operations' | 'mutations'>

/** Without what the thread had from the phase before, when that was of the same script. */
export type PostedJob = Omit<PhaseJob, keyof KnownScript> & Partial<KnownScript>

/** `broken`: the host threw where it should have answered; a mistake of ours and not the script's. */
export type LinkReply = HostReply | { kind: 'broken'; message: string }

export interface Delivery {
  id: number
  reply: LinkReply
  /** The time from here on. It stands still while the script computes. */
  now: number
}

/** The way from a running phase to its host, in the same thread or in another. */
export interface PhaseLink {
  /** The script had to be evaluated first; the phase itself begins. */
  scriptLoaded(): void
  /** All calls of one turn at once, in order. */
  send(calls: readonly HostCall[]): void
  log(level: string, message: string): void
  /** The next reply, in the order of arrival. */
  receive(): Promise<Delivery>
  /** The script had what was foreseen for an answer. */
  tookForeseen?(): void
  /** The script looked at the time. */
  tookTime?(time: number): void
  /** Calls that the script has its answer to already: the host is told of them before anything else. */
  note?(calls: readonly HostCall[]): void
  /** A call after which nothing of the script runs: nobody has to wait for the answer. */
  last?(call: HostCall): void
}

export const chance = (host: PhaseHost): RandomSeed => [host.random(), host.random()]

export function phaseToJob({ host, then: _, ...request }: PhaseRequest): PhaseJob {
  return { ...request, now: host.now(), seed: chance(host) }
}

/** Replies in the order of arrival, for the one who asks for the next. */
export interface Inbox {
  put(delivery: Delivery): void
  next(): Promise<Delivery>
}

export function createInbox(): Inbox {
  const arrived: Delivery[] = []
  let wake: (() => void) | undefined
  return {
    put(delivery) {
      arrived.push(delivery)
      wake?.()
    },
    async next() {
      for (;;) {
        const delivery = arrived.shift()
        if (delivery !== undefined) return delivery
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

export async function answerCall(
  host: PhaseHost,
  { op, args }: Pick<HostCall, 'op' | 'args'>,
  signal: AbortSignal,
): Promise<LinkReply> {
  try {
    return await host.call(op, args, signal)
  } catch (error) {
    return { kind: 'broken', message: `${op}: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/**
 * Hands all calls of a turn to the host, one after the other, before anything is awaited: the host sees the whole turn
 * before any reply is taken. Each is answered exactly once, whatever the host does, and brings the time with it.
 */
export function answerCalls(
  host: PhaseHost,
  calls: readonly HostCall[],
  signal: AbortSignal,
  deliver: (delivery: Delivery) => void,
): void {
  for (const call of calls) {
    void answerCall(host, call, signal).then((reply) => {
      if (!signal.aborted) deliver({ id: call.id, reply, now: host.now() })
    })
  }
}

export function createLocalLink(host: PhaseHost, signal: AbortSignal): PhaseLink {
  const inbox = createInbox()
  return {
    scriptLoaded: () => undefined,
    send: (calls) => answerCalls(host, calls, signal, (delivery) => inbox.put(delivery)),
    log: (level, message) => host.log(level, message),
    receive: () => inbox.next(),
  }
}
