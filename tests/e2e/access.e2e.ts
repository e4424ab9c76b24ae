import type { Page } from '@playwright/test'
import { readFile } from 'node:fs/promises'
import { matchPath, parseHash } from '#ui/client/hash.ts'
import { AppPage } from './pages/app-page.ts'
import { problemsOf } from './support/axe.ts'
import { invoiceScript, triageScript, workerScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test.describe.configure({ timeout: 300_000 })

interface Made {
  good: string
  bad: string
  runs: string[]
  event: string
  session: string
}

/** An address, and what is opened there. */
type Stop = [address: string, open?: (page: Page) => Promise<unknown>]

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).first().click()
const choose = (menu: string, item: string) => async (page: Page) => {
  await press(menu)(page)
  await page.getByRole('menuitem', { name: item }).click()
}

const ofWorkflows = ({ good, bad, runs, event }: Made): Stop[] => [
  ['#/'],
  ['#/workflows', press('Actions for Inbox triage')],
  ['#/workflows/new?test=1'],
  [`#/workflows/${bad}`],
  [`#/workflows/${good}`, choose('More actions', 'Share …')],
  [`#/workflows/${good}/graph`],
  [`#/workflows/${good}/graph?view=list`],
  [`#/workflows/${good}/runs`, (page) => page.getByRole('checkbox', { name: 'Choose all that are loaded' }).check()],
  [`#/workflows/${good}/events?event=${event}`],
  [`#/workflows/${good}/events`, press('Publish an event')],
  [`#/workflows/${good}/script`],
  [`#/workflows/${good}/settings`],
  [`#/workflows/${good}/settings`, press('Delete …')],
  ...runs.map((id): Stop => [`#/runs/${id}`]),
  ['#/inbox'],
  ['#/inbox?show=settled'],
]

const ofTheRest = ({ session }: Made): Stop[] => [
  ['#/sessions'],
  ['#/sessions/new'],
  ['#/sessions/new?template=morning-briefing'],
  [`#/sessions/${session}?agent=one`, press('More actions')],
  ['#/import'],
  ['#/sql?table=events'],
  ['#/sql?table=events', press('Save…')],
  ['#/gallery'],
  ['#/gallery', press('Use this: Inbox triage')],
  ['#/settings'],
  ['#/settings/backup'],
  ['#/settings/history'],
  ['#/settings/connections'],
  ['#/settings/connections', press('Add…')],
  ['#/settings/connections', press('Set a passphrase…')],
  ['#/settings/connections', press('Edit… GitHub')],
  ['#/settings/notifications'],
  ['#/settings/appearance'],
  ['#/settings/engine'],
  ['#/settings/about'],
  ['#/demo'],
  ['#/nowhere', (page) => page.getByRole('status', { name: 'Engine' }).getByRole('button').click()],
  ['#/workflows', (page) => page.keyboard.press('Control+k')],
  ['#/sql', (page) => page.keyboard.press('?')],
]

async function furnish(app: AppPage): Promise<Made> {
  const good = await app.deploy(triageScript())
  const bad = await app.deploy(invoiceScript())
  const agents = [{ key: 'one', role: 'worker', task: 'Do it', source: workerScript }]
  const { sessionId } = await app.ask('createSession', { objective: 'Be done', strategy: 'parallel', agents })
  await app.ask('startSession', sessionId)
  await app.settle()
  const { rows } = await app.ask('listRuns', { limit: 20 })
  const runs = [good, bad].map((id) => rows.find(({ workflowId }) => workflowId === id)?.id ?? '')
  const event = (await app.ask('listEvents', { workflowId: good, limit: 1 })).rows[0]?.id ?? ''
  return { good, bad, runs, event, session: sessionId }
}

for (const [what, stopsOf] of Object.entries({ 'workflows and runs': ofWorkflows, 'everything else': ofTheRest })) {
  test(`screens of ${what}, and what opens on them, are accessible and stay within their width`, async ({
    page,
    complaints,
  }) => {
    const app = new AppPage(page)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await app.open()
    await expect(app.heading('Welcome')).toBeVisible()
    expect.soft(await problemsOf(page, 'html'), 'the first visit').toEqual([])
    for (const [address, open] of stopsOf(await furnish(app))) {
      await app.go(address)
      await expect(page.locator('#main')).not.toContainText('Loading')
      await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
      await open?.(page)
      expect.soft(await problemsOf(page, 'html'), `${address}${open ? ', with what opens there' : ''}`).toEqual([])
      await page.keyboard.press('Escape')
    }
    expect(complaints).toEqual([])
  })
}

test('no route, no tab of a workflow and no section of the settings is left out of what is judged', async () => {
  const namesIn = async (file: string, pattern: RegExp): Promise<string[]> =>
    [...(await readFile(`src/ui/${file}`, 'utf8')).matchAll(pattern)].map(([, name = '']) => name)
  const made = { good: 'x', bad: 'x', runs: ['x'], event: 'x', session: 'x' }
  const paths = [...ofWorkflows(made), ...ofTheRest(made)].map(([address]) => parseHash(address).path)

  const patterns = await namesIn('routes.ts', /path: '([^']+)'/g)
  expect(patterns.length).toBeGreaterThan(12)
  // The first that fits is the one that is shown.
  const judged = new Set(paths.map((path) => patterns.find((pattern) => matchPath(pattern, path) !== null)))
  expect(patterns.filter((pattern) => !judged.has(pattern))).toEqual([])

  const [overview, ...tabs] = await namesIn('features/workflows/tabs.ts', /name: '(\w+)'/g)
  expect(overview).toBe('overview')
  expect(tabs.filter((tab) => !paths.includes(`/workflows/x/${tab}`))).toEqual([])
  const [storage, ...sections] = await namesIn('features/settings/sections.ts', /name: '(\w+)'/g)
  expect(storage).toBe('storage')
  expect(sections.filter((section) => !paths.includes(`/settings/${section}`))).toEqual([])
})
