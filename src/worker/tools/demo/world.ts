import type { Clock } from '#engine/ports/clock.ts'
import type { DocumentedMethod } from '../define-method.ts'
import type { KeyValue } from '../key-value.ts'
import { createChats, type ChatMessage } from './chat.ts'
import { createInbox, type Mail, type Reply } from './inbox.ts'
import type { Knobs } from './knobs.ts'
import type { Effect, Ledger } from './ledger.ts'
import { createLine } from './line.ts'
import { createSheets, type Row } from './sheet.ts'
import { setPace, startTraffic } from './traffic.ts'

/** Where the demo world keeps what happened in it: not in the engine's database, and not lost with it. */
export type DemoStorage = KeyValue

export interface DemoOptions {
  clock: Clock
  storage: DemoStorage
  seed: string
  /** A mail comes about every `everyMs`; `initial` are there from the start. */
  traffic?: { everyMs?: number; initial?: number }
}

export interface DemoSnapshot {
  mails: (Mail & { archived: boolean })[]
  replies: Reply[]
  sheets: Record<string, Row[]>
  chats: Record<string, ChatMessage[]>
  /** Everything that was done from outside, with the idempotency key it came with. */
  effects: Effect[]
  knobs: Knobs
}

export interface DemoWorld {
  tools: readonly DocumentedMethod[]
  /** Takes over what is given and leaves the rest: `setKnobs({ loseNextResponse: 1 })`. */
  setKnobs(change: Partial<Knobs>): Promise<Knobs>
  /** From now on a mail comes about every so often; zero stops them. */
  setPace(everyMs: number): Promise<void>
  /** Puts a mail into the inbox. */
  deliver(mail: { from: string; subject: string; body?: string }): Promise<Mail>
  snapshot(): Promise<DemoSnapshot>
  /** Back to the first day. */
  reset(): Promise<void>
}

const DEFAULT_EVERY_MS = 20_000
const DEFAULT_INITIAL = 5

/** A little outside world that needs no network: the same clock and seed give the same mails at the same times. */
export function createDemoWorld({ clock, storage, seed, traffic = {} }: DemoOptions): DemoWorld {
  const { everyMs = DEFAULT_EVERY_MS, initial = DEFAULT_INITIAL } = traffic
  const line = createLine({ clock, storage, seed })
  const beginning = () => startTraffic(clock.now(), everyMs, initial)
  const inbox = createInbox({ clock, storage, seed, line, beginning })
  const sheets = createSheets({ storage, line })
  const chats = createChats({ clock, storage, seed, line, inbox })

  async function effects(): Promise<Effect[]> {
    const documents = await Promise.all((await storage.keys()).map((key) => storage.get(key)))
    return documents
      .flatMap((text) => (JSON.parse(text ?? '{}') as Partial<Ledger>).effects ?? [])
      .sort((a, b) => a.at - b.at)
  }

  return {
    tools: [...inbox.methods, ...sheets.methods, ...chats.methods],
    setKnobs: (change) => line.setKnobs(change),
    setPace: (pace) => inbox.setTraffic((current) => setPace(seed, current, clock.now(), pace)),
    deliver: (mail) => inbox.deliver(mail),
    snapshot: async () => ({
      ...(await inbox.snapshot()),
      sheets: await sheets.snapshot(),
      chats: await chats.snapshot(),
      effects: await effects(),
      knobs: await line.knobs(),
    }),
    reset: () => storage.clear(),
  }
}
