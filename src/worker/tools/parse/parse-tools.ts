import * as v from 'valibot'
import type { Json } from '#engine/model/json.ts'
import type { ToolOutcome } from '#engine/ports/tools.ts'
import { defineMethod, valueAndOptions, type DocumentedMethod } from '../define-method.ts'
import { refused, succeeded } from '../outcomes.ts'
import { parseCsv, withHeader } from './csv.ts'
import { parseFeed } from './feed.ts'
import { parsePage } from './html.ts'

const text = v.string()
const now = (outcome: ToolOutcome): Promise<ToolOutcome> => Promise.resolve(outcome)

/** Pure functions on text that has already been fetched: they reach nothing and need no permission. */
export function createParseTools(): DocumentedMethod[] {
  return [
    defineMethod({
      name: 'parse.feed',
      kind: 'read',
      title: 'Read an RSS or Atom feed',
      doc: {
        signature: '(text: string) => Promise<{ title: string; link: string; items: FeedItem[] }>',
        text: 'Reads RSS or Atom. Each item has a stable `id` that serves well as the `messageId` of an event; summaries are plain text, dates ISO 8601.',
        example:
          "const { body } = await ctx.http.get('https://news.example.com/feed.xml')\nconst feed = await ctx.parse.feed(body)\nreturn feed.items.map((item) => item.title)",
      },
      arguments: valueAndOptions('text'),
      input: v.strictObject({ text }),
      permissions: () => [],
      call: ({ text }) => {
        const feed = parseFeed(text)
        if (!feed) return now(refused('logic', `This is neither RSS nor Atom; it begins with "${text.slice(0, 80)}"`))
        return now(succeeded({ ...feed, items: feed.items.map((item) => ({ ...item })) }))
      },
    }),
    defineMethod({
      name: 'parse.csv',
      kind: 'read',
      title: 'Read CSV',
      doc: {
        signature:
          "(text: string, options?: { header?: boolean; delimiter?: ',' | ';' | '\\t' | '|' }) => Promise<Record<string, string>[] | string[][]>",
        text: 'Reads comma separated values. The first row names the columns unless `header` is false; then each row is an array.',
        example: "const rows = await ctx.parse.csv('name,amount\\nAda,12', { delimiter: ',' })\nreturn rows[0].amount",
      },
      arguments: valueAndOptions('text'),
      input: v.strictObject({
        text,
        header: v.optional(v.boolean(), true),
        delimiter: v.optional(v.picklist([',', ';', '\t', '|']), ','),
      }),
      permissions: () => [],
      call: ({ text, header, delimiter }) => {
        const rows = parseCsv(text, delimiter)
        return now(succeeded(header ? withHeader(rows) : rows))
      },
    }),
    defineMethod({
      name: 'parse.html',
      kind: 'read',
      title: 'Read the text of a web page',
      doc: {
        signature:
          '(html: string) => Promise<{ title: string; text: string; links: { href: string; text: string }[] }>',
        text: 'What a reader would see of a page: its title, its text without mark-up, and its links as they are written.',
        example: "const page = await ctx.parse.html('<title>Hi</title><p>Hello <b>world</b></p>')\nreturn page.text",
      },
      arguments: valueAndOptions('text'),
      input: v.strictObject({ text }),
      permissions: () => [],
      call: ({ text }) => {
        const page = parsePage(text)
        return now(succeeded({ ...page, links: page.links.map((link) => ({ ...link })) }))
      },
    }),
    defineMethod({
      name: 'parse.jsonLines',
      kind: 'read',
      title: 'Read JSON lines',
      doc: {
        signature: '(text: string) => Promise<Json[]>',
        text: 'Reads one JSON value per line; empty lines are skipped.',
        example: 'const values = await ctx.parse.jsonLines(\'{"a":1}\\n{"a":2}\')\nreturn values.length',
      },
      arguments: valueAndOptions('text'),
      input: v.strictObject({ text }),
      permissions: () => [],
      call: ({ text }) => now(parseJsonLines(text)),
    }),
  ]
}

function parseJsonLines(text: string): ToolOutcome {
  const values: Json[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    try {
      values.push(JSON.parse(line) as Json)
    } catch {
      return refused('logic', `Line ${index + 1} is not JSON; it begins with "${line.slice(0, 80)}"`)
    }
  }
  return succeeded(values)
}
