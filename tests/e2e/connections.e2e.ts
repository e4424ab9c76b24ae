import { startMisbehavingServer, type MisbehavingServer } from '../support/misbehaving-server.ts'
import { ConnectionsPage } from './pages/connections-page.ts'
import { InboxPage } from './pages/inbox-page.ts'
import { expect, test as base } from './support/test.ts'

const test = base.extend<{ server: MisbehavingServer }>({
  server: async ({}, use) => {
    const server = await startMisbehavingServer({ allowsPages: true })
    await use(server)
    await server.close()
  },
})

const SECRET = 'a-value-that-nobody-may-ever-see'

const asking = (permission: string, call: string): string => `
export default defineWorkflow({
  name: 'Asking',
  permissions: ['${permission}'],
  topics: { answer: {} },
  producers: {
    ask: {
      schedule: { interval: '1h' },
      publishes: ['answer'],
      async handler(state, ctx) {
        const answer = await ${call}
        ctx.log.info(JSON.stringify(answer))
        await ctx.topics.publish('answer', { messageId: String(ctx.now()), payload: answer })
        return answer
      },
    },
  },
})`

test('a secret is set up, used, locked, unlocked and removed, and is nowhere to be found', async ({
  page,
  server,
  complaints,
}) => {
  const settings = new ConnectionsPage(page)
  await settings.open('#/settings/connections')
  const card = settings.card('Secrets')
  await settings.addSecret('TOKEN', 'short', server.host)
  await expect(settings.dialog).toContainText('at least 8 characters')
  await settings.dialog.getByLabel('Value').fill(SECRET)
  await settings.press('Add it')
  await expect(card).toContainText(`may go to ${server.host}`)

  const call = `ctx.http.get('${server.url}/echo', { headers: { authorization: 'Bearer secret:TOKEN' } })`
  const id = await settings.deploy(asking(`http:${server.host}`, call))
  await settings.settle()
  expect(server.received.at(-1)?.headers['authorization']).toBe(`Bearer ${SECRET}`)
  const kept = await settings.keptByBrowser()
  // What is searched holds the answer of the server, which had sent the secret back.
  expect(kept).toContain('[secret TOKEN]')
  expect(kept).not.toContain(SECRET)
  expect(kept).not.toContain(btoa(SECRET).replace(/=+$/, ''))
  const exported = Buffer.from(await settings.exportedBytes())
  expect(exported.includes('[secret TOKEN]')).toBe(true)
  expect(exported.includes(SECRET)).toBe(false)

  await card.getByRole('button', { name: 'Set a passphrase…' }).click()
  await settings.dialog.getByLabel('Passphrase').fill('correct horse battery')
  await settings.dialog.getByLabel('Once more').fill('correct horse')
  await expect(settings.dialog).toContainText('not the same')
  await settings.dialog.getByLabel('Once more').fill('correct horse battery')
  await settings.press('Seal with it')
  await card.getByRole('button', { name: 'Lock now' }).click()
  await expect(card).toContainText('The secrets are locked')
  await settings.ask('runWorkflow', id)
  await settings.settle()
  expect(server.received).toHaveLength(1)

  await card.getByRole('button', { name: 'Unlock…' }).click()
  await settings.dialog.getByLabel('Passphrase').fill('wrong')
  await settings.press('Unlock')
  await expect(settings.dialog).toContainText('not the passphrase')
  await settings.dialog.getByLabel('Passphrase').fill('correct horse battery')
  await settings.press('Unlock')
  await expect(card).not.toContainText('The secrets are locked')
  await settings.go('#/inbox')
  await new InboxPage(page).settle('Asking', 'I have reconnected')
  await settings.settle()
  expect(server.received).toHaveLength(2)
  expect(await settings.keptByBrowser()).not.toContain(SECRET)

  await settings.go('#/settings/connections')
  await card.getByRole('button', { name: 'Remove… TOKEN' }).click()
  await settings.press('Remove it')
  await expect(card).toContainText('None yet')
  expect(complaints).toEqual([])
})

test('a language model is set up, tested and asked; what it cost is shown, and a limit of the day holds it back', async ({
  page,
  server,
  complaints,
}) => {
  server.on('/v1/chat/completions', (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        model: 'small-2',
        choices: [{ message: { content: 'ok' } }],
        usage: { prompt_tokens: 1_000, completion_tokens: 500 },
      }),
    ),
  )
  server.on('/rate_limit', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  const settings = new ConnectionsPage(page)
  await settings.open('#/settings/connections')
  const card = settings.card('Language models')
  await card.getByRole('button', { name: 'Add…' }).click()
  await settings.dialog.getByLabel('Name').fill('Here')
  await settings.dialog.getByLabel('Address').fill(`${server.url}/v1`)
  await settings.dialog.getByLabel('Model').fill('small')
  await settings.dialog.getByLabel('Price of a million tokens read').fill('10')
  await settings.dialog.getByLabel('Price of a million written').fill('40')
  await settings.press('Save')
  await card.getByRole('button', { name: 'Test Here' }).click()
  await expect(card.getByRole('status')).toHaveText('small-2 answered.')

  const github = settings.card('GitHub')
  await github.getByRole('button', { name: 'Edit… GitHub' }).click()
  await settings.dialog.getByLabel('Address').fill(server.url)
  await settings.press('Save')
  await github.getByRole('button', { name: 'Test GitHub' }).click()
  await expect(github.getByRole('status')).toContainText('GitHub answered')

  const id = await settings.deploy(asking('llm', `ctx.llm.text({ prompt: 'Hello' })`))
  await settings.settle()
  await settings.go(`#/workflows/${id}`)
  await expect(settings.card('In the last 24 hours')).toContainText('$0.03')
  const { rows } = await settings.ask('listRuns', { workflowId: id })
  await settings.go(`#/runs/${rows[0]?.id ?? ''}`)
  await expect(page.locator('#main')).toContainText('cost $0.03')

  await settings.go(`#/workflows/${id}/settings`)
  const limits = settings.card('Limits')
  await limits.getByLabel('Mutations a day').fill('5')
  await limits.getByLabel('Cost a day, in dollars').fill('0.02')
  await limits.getByRole('button', { name: 'Save the limits' }).click()
  await expect(limits).toContainText('The $0.02 that this workflow may cost in 24 hours are spent.')
  expect(await settings.ask('getWorkflow', id)).toMatchObject({ limits: { mutationsPerDay: 5, costPerDay: 20_000 } })
  await settings.go(`#/workflows/${id}`)
  await expect(page.locator('#main')).toContainText('as the day passes')
  const asked = server.received.length
  const refused = await page.evaluate((workflow) => globalThis.holdfast.runWorkflow(workflow), id)
  expect(refused).toMatchObject({ ok: false, error: { code: 'workflow_blocked' } })
  expect(server.received).toHaveLength(asked)
  expect(complaints).toEqual([])
})

test('a folder is picked and named, scripts write to it, and it is still there after a reload', async ({
  page,
  complaints,
}) => {
  // The picker is the browser's own window: a folder of the origin stands in for the one a person would pick.
  await page.addInitScript(() => {
    Object.assign(globalThis, {
      showDirectoryPicker: async () =>
        (await navigator.storage.getDirectory()).getDirectoryHandle('Reports (2026)', { create: true }),
    })
  })
  const settings = new ConnectionsPage(page)
  await settings.open('#/settings/connections')
  const card = settings.card('Folders')
  await card.getByRole('button', { name: 'Pick a folder…' }).click()
  await expect(settings.dialog.getByLabel('Name')).toHaveValue('Reports 2026')
  await settings.dialog.getByLabel('Name').fill('a/b')
  await settings.press('Use it')
  await expect(settings.dialog).toContainText('cannot be the name of a folder')
  await settings.dialog.getByLabel('Name').fill('reports')
  await settings.press('Use it')
  await expect(card).toContainText('reports')
  await page.reload()
  await expect(settings.chip).toContainText('Running')
  await expect(card).toContainText('reports')

  const id = await settings.deploy(`
    export default defineWorkflow({
      name: 'Writer',
      permissions: ['files:reports'],
      topics: { line: {} },
      consumers: {
        write: {
          subscribe: ['line'],
          async prepare(state, ctx) {
            const [event] = await ctx.topics.peek('line', { limit: 1 })
            if (!event) return { reservations: [], data: {} }
            return { reservations: [{ topic: 'line', ids: [event.messageId] }], data: event.payload }
          },
          async mutate(prepared, ctx) {
            await ctx.files.append({ folder: 'reports', path: '2026/log.txt', text: prepared.data + '\\n' })
          },
        },
      },
    })`)
  for (const line of ['one', 'two']) await settings.ask('publishEvent', id, 'line', { messageId: line, payload: line })
  await settings.settle()
  const text = await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory()
    const folder = await (await root.getDirectoryHandle('Reports (2026)')).getDirectoryHandle('2026')
    return (await (await folder.getFileHandle('log.txt')).getFile()).text()
  })
  expect(text).toBe('one\ntwo\n')

  await card.getByRole('button', { name: 'Remove reports' }).click()
  await expect(card).toContainText('None yet')
  await settings.toasts.getByRole('button', { name: 'Undo' }).click()
  await expect(card.getByRole('button', { name: 'Remove reports' })).toBeVisible()
  expect(complaints).toEqual([])
})
