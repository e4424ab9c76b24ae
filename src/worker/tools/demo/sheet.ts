import * as v from 'valibot'
import type { Json } from '#engine/model/json.ts'
import { defineMethod, oneObject, type DocumentedMethod } from '../define-method.ts'
import type { KeyValue } from '../key-value.ts'
import { customers } from './content.ts'
import { applyOnce, readDocument, Refusal, type Ledger } from './ledger.ts'
import type { Line } from './line.ts'

export interface Row {
  id: string
  values: Record<string, Json>
}

interface SheetDocument extends Ledger {
  rows: Row[]
  nextId: number
}

const PREFIX = 'sheet/'
/** A demo that is left running must not fill the disk: the oldest rows go. */
const KEPT_ROWS = 10_000

const sheetName = v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(100)), 'Sheet1')
const values = v.record(
  v.string(),
  v.custom<Json>((value) => value !== undefined),
)

export interface Sheets {
  methods: DocumentedMethod[]
  snapshot(): Promise<Record<string, Row[]>>
}

export function createSheets({ storage, line }: { storage: KeyValue; line: Line }): Sheets {
  const fresh = (sheet: string) => (): SheetDocument => {
    const rows = sheet === 'Customers' ? customers() : []
    return { effects: [], rows, nextId: rows.length + 1 }
  }
  const read = (sheet: string) => readDocument(storage, PREFIX + sheet, fresh(sheet))

  const methods = [
    defineMethod({
      name: 'demo.sheet.rows',
      kind: 'read',
      title: 'Read rows of the demo sheet',
      doc: {
        signature: '(options?: { sheet?: string; limit?: number }) => Promise<DemoRow[]>',
        text: 'The newest `limit` rows (100 unless told, 1,000 at most) of a sheet, oldest first. The sheet `Customers` has rows from the start; any other name is an empty sheet.',
        example:
          "const rows = await ctx.demo.sheet.rows({ sheet: 'Customers' })\nreturn rows.map((row) => row.values.email)",
      },
      arguments: oneObject,
      input: v.strictObject({
        sheet: sheetName,
        limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)), 100),
      }),
      permissions: () => ['demo'],
      call: ({ sheet, limit }, call) =>
        line.read(call, async () => (await read(sheet)).rows.slice(-limit).map((row) => ({ ...row }))),
    }),
    defineMethod({
      name: 'demo.sheet.append',
      kind: 'mutation',
      title: 'Add a row to the demo sheet',
      doc: {
        signature: '(row: { sheet?: string; values: Record<string, Json> }) => Promise<DemoRow>',
        text: 'Adds a row at the end of a sheet (`Sheet1` unless told); the row gets an id.',
        example:
          "await ctx.demo.sheet.append({ sheet: 'Orders', values: { from: 'ada@northwind.example', amount: 12.5 } })",
      },
      arguments: oneObject,
      input: v.strictObject({ sheet: sheetName, values }),
      permissions: () => ['demo'],
      call: ({ sheet, values }, call) =>
        line.mutate(call, 'demo.sheet.append', (request) =>
          applyOnce(storage, PREFIX + sheet, fresh(sheet), request, (document) => {
            const row = { id: `row-${document.nextId++}`, values }
            document.rows = [...document.rows, row].slice(-KEPT_ROWS)
            return row
          }),
        ),
      reconcile: ({ sheet }, call) => line.check(call, PREFIX + sheet, fresh(sheet)),
      whereToCheck: ({ sheet }) => `Look at the last rows of the demo sheet "${sheet}".`,
    }),
    defineMethod({
      name: 'demo.sheet.update',
      kind: 'mutation',
      title: 'Change a row of the demo sheet',
      doc: {
        signature: '(row: { sheet?: string; id: string; values: Record<string, Json> }) => Promise<DemoRow>',
        text: 'Writes the given values over those of the row `id`; its other values stay.',
        example: "await ctx.demo.sheet.update({ sheet: 'Customers', id: 'row-1', values: { note: 'called' } })",
      },
      arguments: oneObject,
      input: v.strictObject({ sheet: sheetName, id: v.pipe(v.string(), v.minLength(1)), values }),
      permissions: () => ['demo'],
      call: ({ sheet, id, values }, call) =>
        line.mutate(call, 'demo.sheet.update', (request) =>
          applyOnce(storage, PREFIX + sheet, fresh(sheet), request, (document) => {
            const row = document.rows.find((candidate) => candidate.id === id)
            if (!row) throw new Refusal(`There is no row ${id} in the demo sheet "${sheet}"`)
            row.values = { ...row.values, ...values }
            return { ...row }
          }),
        ),
      reconcile: ({ sheet }, call) => line.check(call, PREFIX + sheet, fresh(sheet)),
      whereToCheck: ({ sheet, id }) => `Look at ${id} of the demo sheet "${sheet}".`,
    }),
  ]

  return {
    methods,
    async snapshot() {
      const stored = (await storage.keys())
        .filter((key) => key.startsWith(PREFIX))
        .map((key) => key.slice(PREFIX.length))
      const names = [...new Set(['Customers', ...stored])].sort()
      return Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await read(name)).rows] as const)))
    },
  }
}
