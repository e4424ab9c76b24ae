import { expect, test } from './support/test.ts'

const script = `
export default defineWorkflow({
  name: 'Triage',
  permissions: ['demo'],
  topics: { mail: {}, row: {} },
  producers: {
    poll: {
      schedule: { interval: '5m' },
      publishes: ['mail'],
      async handler(state: { after?: string } | null, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.after })
        for (const mail of mails) await ctx.topics.publish('mail', { messageId: mail.id, title: mail.subject, payload: mail })
        return { after: mails.at(-1)?.id ?? state?.after }
      },
    },
  },
  consumers: {
    keep: {
      subscribe: ['mail'],
      publishes: ['row'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('mail', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'mail', ids: [event.messageId] }], data: { from: event.payload.from } }
      },
      async mutate(prepared, ctx) { await ctx.demo.sheet.append({ sheet: 'people', values: prepared.data }) },
      async next(prepared, mutation, ctx) {
        await ctx.topics.publish('row', { messageId: prepared.reservations[0].ids[0], payload: mutation })
      },
    },
  },
})`

test('a deployed workflow runs in the tab, and everything is still there after a reload', async ({
  page,
  complaints,
}) => {
  await page.goto('./')
  const deployed = await page.evaluate((source) => globalThis.holdfast.deployWorkflow({ source }), script)
  expect(deployed).toMatchObject({ ok: true, value: { version: 1 } })
  expect(await page.evaluate(() => globalThis.holdfast.idle({ timeoutMs: 20_000 }))).toEqual({ ok: true, value: null })

  const count = `SELECT status, count(*) AS n FROM mutations GROUP BY status`
  const before = await page.evaluate((query) => globalThis.holdfast.sql(query), count)
  expect(before).toMatchObject({ ok: true, value: [{ status: 'applied', n: 5 }] })

  await page.reload()
  expect(await page.evaluate((query) => globalThis.holdfast.sql(query), count)).toEqual(before)
  const info = await page.evaluate(() => globalThis.holdfast.engineInfo())
  expect(info).toMatchObject({
    ok: true,
    value: { state: 'running', lastRecovery: { recoveredRuns: 0, violations: [] } },
  })
  expect(complaints).toEqual([])
})

test('the SQL console reads and never writes', async ({ page }) => {
  await page.goto('./')
  const refused = await page.evaluate(() => globalThis.holdfast.sql('DELETE FROM workflows'))
  expect(refused).toMatchObject({ ok: false, error: { code: 'read_only' } })
  const sneaky = await page.evaluate(() =>
    globalThis.holdfast.sql('WITH x AS (SELECT 1) INSERT INTO settings SELECT 1, 2, 3 FROM x'),
  )
  expect(sneaky).toMatchObject({ ok: false, error: { code: 'read_only' } })
})
