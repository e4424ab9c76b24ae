import * as v from 'valibot'
import type { Clock } from '#engine/ports/clock.ts'
import { defineMethod, oneObject, type DocumentedMethod } from '../define-method.ts'
import type { KeyValue } from '../key-value.ts'
import { chatter } from './content.ts'
import type { Inbox } from './inbox.ts'
import { applyOnce, readDocument, type Ledger } from './ledger.ts'
import type { Line } from './line.ts'
import { arrivedAt, arrivedCount } from './traffic.ts'

export interface ChatMessage {
  id: string
  from: string
  text: string
  sentAt: string
}

interface ChatDocument extends Ledger {
  messages: ChatMessage[]
  nextId: number
}

const PREFIX = 'chat/'
const TALKATIVE = 'general'
const KEPT_MESSAGES = 5_000
/** Colleagues talk about every third mail. */
const MAILS_PER_REMARK = 3
const empty = (): ChatDocument => ({ effects: [], messages: [], nextId: 1 })
const channelName = v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100)), TALKATIVE)

export interface Chats {
  methods: DocumentedMethod[]
  snapshot(): Promise<Record<string, ChatMessage[]>>
}

export function createChats(world: {
  clock: Clock
  storage: KeyValue
  seed: string
  line: Line
  inbox: Pick<Inbox, 'traffic'>
}): Chats {
  const { clock, storage, seed, line, inbox } = world

  async function remarks(limit: number): Promise<ChatMessage[]> {
    const traffic = await inbox.traffic()
    const count = Math.ceil(arrivedCount(seed, traffic, clock.now()) / MAILS_PER_REMARK)
    const numbers = Array.from({ length: Math.min(count, limit) }, (_, i) => Math.max(0, count - limit) + i)
    return numbers.map((n) => {
      const mail = n * MAILS_PER_REMARK
      const sentAt = new Date(arrivedAt(seed, traffic, mail)).toISOString()
      return { id: `talk-${n + 1}`, ...chatter(seed, mail), sentAt }
    })
  }

  async function messages(channel: string, limit: number): Promise<ChatMessage[]> {
    const { messages: sent } = await readDocument(storage, PREFIX + channel, empty)
    const talk = channel === TALKATIVE ? await remarks(limit) : []
    return [...talk, ...sent].sort((a, b) => Date.parse(a.sentAt) - Date.parse(b.sentAt)).slice(-limit)
  }

  const methods = [
    defineMethod({
      name: 'demo.chat.messages',
      kind: 'read',
      title: 'Read the demo chat',
      doc: {
        signature: '(options?: { channel?: string; limit?: number }) => Promise<DemoMessage[]>',
        text: 'The newest `limit` messages (50 unless told, 500 at most) of a channel, oldest first. In `general` colleagues talk about the mails.',
        example:
          "const messages = await ctx.demo.chat.messages({ channel: 'general', limit: 3 })\nreturn messages.at(-1)?.text",
      },
      arguments: oneObject,
      input: v.strictObject({
        channel: channelName,
        limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(500)), 50),
      }),
      permissions: () => ['demo'],
      call: ({ channel, limit }, call) =>
        line.read(call, async () => (await messages(channel, limit)).map((message) => ({ ...message }))),
    }),
    defineMethod({
      name: 'demo.chat.send',
      kind: 'mutation',
      title: 'Send a message to the demo chat',
      doc: {
        signature: '(message: { channel?: string; text: string }) => Promise<{ id: string; channel: string }>',
        text: 'Sends a message to a channel (`general` unless told).',
        example: "await ctx.demo.chat.send({ channel: 'support', text: 'A new question from Ada' })",
      },
      arguments: oneObject,
      input: v.strictObject({
        channel: channelName,
        text: v.pipe(v.string(), v.minLength(1), v.maxLength(10_000)),
      }),
      permissions: () => ['demo'],
      call: ({ channel, text }, call) =>
        line.mutate(call, 'demo.chat.send', (request) =>
          applyOnce(storage, PREFIX + channel, empty, request, (document) => {
            const id = `message-${document.nextId++}`
            const message = { id, from: 'Holdfast', text, sentAt: new Date(request.at).toISOString() }
            document.messages = [...document.messages, message].slice(-KEPT_MESSAGES)
            return { id, channel }
          }),
        ),
      reconcile: ({ channel }, call) => line.check(call, PREFIX + channel, empty),
      whereToCheck: ({ channel }) => `Look at the last messages in the demo channel "${channel}".`,
    }),
  ]

  return {
    methods,
    async snapshot() {
      const stored = (await storage.keys())
        .filter((key) => key.startsWith(PREFIX))
        .map((key) => key.slice(PREFIX.length))
      const names = [...new Set([TALKATIVE, ...stored])].sort()
      return Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, await messages(name, KEPT_MESSAGES)] as const)),
      )
    },
  }
}
