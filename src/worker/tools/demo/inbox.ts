import * as v from 'valibot'
import type { Clock } from '#engine/ports/clock.ts'
import { defineMethod, oneObject, valueAndOptions, type DocumentedMethod } from '../define-method.ts'
import type { KeyValue } from '../key-value.ts'
import { letter } from './content.ts'
import { applyOnce, readDocument, Refusal, type Ledger } from './ledger.ts'
import type { Line } from './line.ts'
import { arrivedAt, arrivedCount, look, type Traffic } from './traffic.ts'

export interface Mail {
  id: string
  from: string
  name: string
  subject: string
  body: string
  topic: string
  amount: number | null
  receivedAt: string
}

export interface Reply {
  id: string
  mailId: string
  text: string
  sentAt: string
}

interface InboxDocument extends Ledger {
  archived: string[]
  replies: Reply[]
  nextReply: number
  /** Put there by hand, beside the seeded traffic. */
  delivered: Mail[]
}

const INBOX = 'inbox'
const TRAFFIC = 'traffic'
/** Without a cursor the inbox shows this many of the newest mails at most. */
const SHOWN = 200
const KEPT_ARCHIVED = 2_000
const KEPT_REPLIES = 2_000
const empty = (): InboxDocument => ({ effects: [], archived: [], replies: [], nextReply: 1, delivered: [] })

export interface Inbox {
  methods: DocumentedMethod[]
  deliver(mail: { from: string; subject: string; body?: string }): Promise<Mail>
  snapshot(): Promise<{ mails: (Mail & { archived: boolean })[]; replies: Reply[] }>
  traffic(): Promise<Traffic>
  setTraffic(change: (traffic: Traffic) => Traffic): Promise<void>
}

export function createInbox(world: {
  clock: Clock
  storage: KeyValue
  seed: string
  line: Line
  beginning: () => Traffic
}): Inbox {
  const { clock, storage, seed, line, beginning } = world

  async function setTraffic(change: (traffic: Traffic) => Traffic): Promise<void> {
    await storage.update(TRAFFIC, (old) =>
      JSON.stringify(change(old === undefined ? beginning() : (JSON.parse(old) as Traffic))),
    )
  }
  async function traffic(): Promise<Traffic> {
    const text = await storage.get(TRAFFIC)
    const known = text === undefined ? undefined : (JSON.parse(text) as Traffic)
    if (known && look(seed, known, clock.now()) === known) return known
    await setTraffic((current) => look(seed, current, clock.now()))
    return readDocument(storage, TRAFFIC, beginning)
  }

  const seeded = (arrivals: Traffic, n: number): Mail => {
    return { id: `mail-${n + 1}`, ...letter(seed, n), receivedAt: isoAt(arrivedAt(seed, arrivals, n)) }
  }

  /** Oldest first, starting behind the mail `after`. */
  async function list(after: string | undefined, limit: number, withArchived: boolean): Promise<Mail[]> {
    const [arrivals, document] = [await traffic(), await readDocument(storage, INBOX, empty)]
    const count = arrivedCount(seed, arrivals, clock.now())
    const behind = after === undefined ? undefined : await get(after)
    const isBehind = (mail: Mail) => behind === undefined || compareMails(mail, behind) > 0
    const archived = new Set(withArchived ? [] : document.archived)
    const isShown = (mail: Mail) => isBehind(mail) && !archived.has(mail.id)

    const found: Mail[] = []
    const start = behind === undefined ? Math.max(0, count - SHOWN) : firstArrivalFrom(arrivals, count, behind)
    for (let n = start; n < count && found.length < limit; n++) {
      const mail = seeded(arrivals, n)
      if (isShown(mail)) found.push(mail)
    }
    return [...found, ...document.delivered.filter(isShown)].sort(compareMails).slice(0, limit)
  }

  function firstArrivalFrom(arrivals: Traffic, count: number, behind: Mail): number {
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (arrivedAt(seed, arrivals, middle) < Date.parse(behind.receivedAt)) low = middle + 1
      else high = middle
    }
    return low
  }

  async function get(id: string): Promise<Mail | undefined> {
    const document = await readDocument(storage, INBOX, empty)
    const n = seededNumber(id)
    if (n === undefined) return document.delivered.find((mail) => mail.id === id)
    const arrivals = await traffic()
    return n < arrivedCount(seed, arrivals, clock.now()) ? seeded(arrivals, n) : undefined
  }

  const methods = [
    defineMethod({
      name: 'demo.inbox.list',
      kind: 'read',
      title: 'List mails in the demo inbox',
      doc: {
        signature: '(options?: { after?: string; limit?: number; withArchived?: boolean }) => Promise<DemoMail[]>',
        text: 'Mails in the order they arrived, oldest first; `after` is the id of the last one already seen. At most `limit` (20 unless told, 100 at most). Archived mails are left out.',
        example: 'const mails = await ctx.demo.inbox.list({ limit: 5 })\nreturn mails.map((mail) => mail.subject)',
      },
      arguments: oneObject,
      input: v.strictObject({
        after: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
        limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 20),
        withArchived: v.optional(v.boolean(), false),
      }),
      permissions: () => ['demo'],
      call: ({ after, limit, withArchived }, call) =>
        line.read(call, async () => (await list(after, limit, withArchived)).map((mail) => ({ ...mail }))),
    }),
    defineMethod({
      name: 'demo.inbox.get',
      kind: 'read',
      title: 'Read a mail in the demo inbox',
      doc: {
        signature: '(id: string) => Promise<DemoMail | null>',
        text: 'One mail, or null when there is none with this id.',
        example: "const mail = await ctx.demo.inbox.get('mail-1')\nreturn mail?.from",
      },
      arguments: valueAndOptions('id'),
      input: v.strictObject({ id: v.pipe(v.string(), v.minLength(1)) }),
      permissions: () => ['demo'],
      call: ({ id }, call) =>
        line.read(call, async () => {
          const mail = await get(id)
          return mail ? { ...mail } : null
        }),
    }),
    defineMethod({
      name: 'demo.inbox.archive',
      kind: 'mutation',
      title: 'Archive a mail in the demo inbox',
      doc: {
        signature: '(mail: { id: string }) => Promise<{ id: string; archived: true }>',
        text: 'Takes a mail out of the inbox. Archiving it twice is the same as once.',
        example: "await ctx.demo.inbox.archive({ id: 'mail-1' })",
      },
      arguments: oneObject,
      input: v.strictObject({ id: v.pipe(v.string(), v.minLength(1)) }),
      permissions: () => ['demo'],
      call: ({ id }, call) =>
        line.mutate(call, 'demo.inbox.archive', async (request) => {
          const mail = await get(id)
          return applyOnce(storage, INBOX, empty, request, (document) => {
            if (!mail) throw new Refusal(`There is no mail ${id} in the demo inbox`)
            document.archived = [...document.archived.filter((other) => other !== id), id].slice(-KEPT_ARCHIVED)
            return { id, archived: true }
          })
        }),
      reconcile: (_input, call) => line.check(call, INBOX, empty),
      whereToCheck: ({ id }) => `Look whether ${id} is still in the demo inbox.`,
    }),
    defineMethod({
      name: 'demo.inbox.reply',
      kind: 'mutation',
      title: 'Answer a mail in the demo inbox',
      doc: {
        signature: '(reply: { id: string; text: string }) => Promise<{ id: string; mailId: string }>',
        text: 'Answers the mail `id`.',
        example: "await ctx.demo.inbox.reply({ id: 'mail-1', text: 'Thank you, it is on its way.' })",
      },
      arguments: oneObject,
      input: v.strictObject({
        id: v.pipe(v.string(), v.minLength(1)),
        text: v.pipe(v.string(), v.minLength(1), v.maxLength(10_000)),
      }),
      permissions: () => ['demo'],
      call: ({ id, text }, call) =>
        line.mutate(call, 'demo.inbox.reply', async (request) => {
          const mail = await get(id)
          return applyOnce(storage, INBOX, empty, request, (document) => {
            if (!mail) throw new Refusal(`There is no mail ${id} in the demo inbox`)
            const replyId = `reply-${document.nextReply++}`
            const reply = { id: replyId, mailId: id, text, sentAt: isoAt(request.at) }
            document.replies = [...document.replies, reply].slice(-KEPT_REPLIES)
            return { id: replyId, mailId: id }
          })
        }),
      reconcile: (_input, call) => line.check(call, INBOX, empty),
      whereToCheck: ({ id }) => `Look among the answers to ${id} in the demo inbox.`,
    }),
  ]

  return {
    methods,
    traffic,
    setTraffic,
    async deliver({ from, subject, body = '' }) {
      const mail = { from, name: from, subject, body, topic: 'other', amount: null, receivedAt: isoAt(clock.now()) }
      let id = ''
      await storage.update(INBOX, (old) => {
        const document = old === undefined ? empty() : (JSON.parse(old) as InboxDocument)
        id = `mail-extra-${document.delivered.length + 1}`
        return JSON.stringify({ ...document, delivered: [...document.delivered, { id, ...mail }] })
      })
      return { id, ...mail }
    },
    async snapshot() {
      const document = await readDocument(storage, INBOX, empty)
      const archived = new Set(document.archived)
      const mails = await list(undefined, Infinity, true)
      return { mails: mails.map((mail) => ({ ...mail, archived: archived.has(mail.id) })), replies: document.replies }
    },
  }
}

const isoAt = (at: number): string => new Date(at).toISOString()

function seededNumber(id: string): number | undefined {
  const match = /^mail-([1-9]\d{0,8})$/.exec(id)
  return match ? Number(match[1]) - 1 : undefined
}

/** By arrival; of two at the same moment the seeded one is first: it is there as soon as the moment is. */
function compareMails(a: Mail, b: Mail): number {
  if (a.receivedAt !== b.receivedAt) return a.receivedAt < b.receivedAt ? -1 : 1
  const [an, bn] = [seededNumber(a.id), seededNumber(b.id)]
  if (an !== undefined && bn !== undefined) return an - bn
  if (an !== undefined) return -1
  if (bn !== undefined) return 1
  return Number(a.id.slice('mail-extra-'.length)) - Number(b.id.slice('mail-extra-'.length))
}
