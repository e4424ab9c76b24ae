import type { JsonText } from '#engine/model/json.ts'
import type { HostReply, PhaseHost, PhaseRequest } from '#engine/ports/sandbox.ts'
import type { RandomSeed } from './random.ts'

export interface HostCall {
  id: number
  op: string
  args: JsonText
}

/** A phase as data: what can be sent to another thread. Time and chance come with it and with every reply. */
export interface PhaseJob extends Omit<PhaseRequest, 'host'> {
  now: number
  seed: RandomSeed
}

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
  /** All calls of one turn at once, in order. */
  send(calls: readonly HostCall[]): void
  log(level: string, message: string): void
  /** The next reply, in the order of arrival. */
  receive(): Promise<Delivery>
}

export function phaseToJob({ host, ...request }: PhaseRequest): PhaseJob {
  return { ...request, now: host.now(), seed: [host.random(), host.random()] }
}

/** Answers every call that is handed over, exactly once, whatever the host does. */
async function answerCall(host: PhaseHost, call: HostCall, signal: AbortSignal): Promise<LinkReply> {
  try {
    return await host.call(call.op, call.args, signal)
  } catch (error) {
    return { kind: 'broken', message: `${call.op}: ${error instanceof Error ? error.message : String(error)}` }
  }
}

export function createLocalLink(host: PhaseHost, signal: AbortSignal): PhaseLink {
  const arrived: Delivery[] = []
  let wake: (() => void) | undefined

  return {
    send(calls) {
      // Started one after the other before anything is awaited: the host sees all calls of a turn before any reply.
      for (const call of calls) {
        void answerCall(host, call, signal).then((reply) => {
          arrived.push({ id: call.id, reply, now: 0 })
          wake?.()
        })
      }
    },
    log: (level, message) => host.log(level, message),
    async receive() {
      for (;;) {
        const delivery = arrived.shift()
        // The clock is read when a reply is taken, in the order in which the script sees them: a replay asks alike.
        if (delivery !== undefined) return { ...delivery, now: host.now() }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
