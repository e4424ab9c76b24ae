import type { Page } from '@playwright/test'
import { AppPage } from './pages/app-page.ts'
import { RunPage } from './pages/run-page.ts'
import { Hands } from './support/hands.ts'
import { invoiceScript, triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

/** Nothing in here uses the mouse, or puts the focus anywhere by itself. */
async function sitDown(page: Page, ...sources: string[]): Promise<{ app: AppPage; hands: Hands; ids: string[] }> {
  const app = new AppPage(page)
  const hands = new Hands(page)
  await hands.watchFocus()
  await app.open()
  const ids: string[] = []
  for (const source of sources) ids.push(await app.deploy(source))
  await app.settle()
  return { app, hands, ids }
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) => page.locator('#main').getByRole('link', { name, exact: true })

test('the dashboard, the lists, every tab of a workflow and the timeline of a run are used by keyboard alone', async ({
  page,
  complaints,
}) => {
  const { app, hands, ids } = await sitDown(page, triageScript())
  await hands.press('Tab', 'Enter')
  await expect(page.locator('#main')).toBeFocused()
  await hands.reachAndPress(page.getByRole('combobox', { name: 'How far back' }), 'ArrowUp')
  await hands.reachAndPress(link(page, 'All workflows'))
  await expect(app.heading('Workflows')).toBeFocused()

  await hands.press('/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await hands.type('g w inbox')
  await expect(page.getByRole('searchbox')).toHaveValue('g w inbox')
  await hands.press('Control+a', 'Delete')
  await hands.reachAndPress(button(page, 'Actions for Inbox triage'))
  await expect(hands.focused).toHaveText('Run now')
  await hands.press('ArrowDown')
  await expect(hands.focused).toHaveText('Pause')
  await hands.press('Escape')
  await expect(button(page, 'Actions for Inbox triage')).toBeFocused()
  await hands.reach(link(page, 'Inbox triage'), 'Shift+Tab')
  await hands.press('Enter')
  await expect(app.heading('Inbox triage')).toBeFocused()

  await hands.press('p')
  await expect(page.getByText('Paused', { exact: true })).toBeVisible()
  await hands.press('p')
  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Parts of this workflow' }).getByRole('link', { name })
  await hands.reachAndPress(tab('Overview'), 'ArrowRight', 'Enter')
  await expect(page).toHaveURL(new RegExp(`${ids[0]}/graph`))
  await expect(tab('Graph')).toBeFocused()
  await hands.reach(page.getByRole('group', { name: 'Graph of Inbox triage' }).getByRole('link', { name: /row/ }))
  await hands.reach(button(page, 'Show as list'), 'Shift+Tab')
  await hands.press('Enter')
  await expect(page.getByRole('row', { name: /keep/ })).toBeVisible()

  await hands.reach(tab('Graph'), 'Shift+Tab')
  await hands.press('ArrowRight', 'ArrowRight', 'Enter')
  const events = page.getByRole('list', { name: 'Events' })
  await hands.reachAndPress(events, 'ArrowDown', 'ArrowDown', 'Enter')
  await expect(page.getByRole('region', { name: 'Event' })).toContainText('mail-4')
  await hands.reachAndPress(button(page, 'Close the event'))
  await expect(events.getByRole('button').nth(1)).toBeFocused()
  await hands.reach(button(page, 'Publish an event'), 'Shift+Tab')
  await hands.press('Enter')
  const dialog = page.getByRole('dialog')
  await hands.reach(dialog.getByLabel('Payload'))
  await hands.press('Escape')
  await expect(button(page, 'Publish an event')).toBeFocused()

  await hands.reach(tab('Events'), 'Shift+Tab')
  await hands.press('ArrowRight', 'ArrowRight', 'Enter')
  await hands.reachAndPress(button(page, 'Delete …'))
  await expect(dialog).toBeVisible()
  await hands.press('Escape')
  await expect(button(page, 'Delete …')).toBeFocused()

  await hands.reach(tab('Settings'), 'Shift+Tab')
  await hands.press('ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'Enter')
  await hands.reachAndPress(page.getByRole('checkbox', { name: /^Choose run/ }), 'Space')
  await expect(page.getByRole('group', { name: 'Chosen runs' })).toContainText('1 run chosen')
  await hands.reach(page.getByRole('table', { name: 'Runs' }).getByRole('rowgroup').last(), 'Shift+Tab')
  await hands.press('ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter')
  await expect(app.heading('Run of Inbox triage')).toBeFocused()
  await hands.reachAndPress(page.getByRole('list', { name: 'Attempts' }), 'ArrowDown', 'ArrowDown', 'Enter')
  await expect(hands.focused).toHaveAttribute('aria-pressed', 'true')
  const run = new RunPage(page)
  await expect(run.phase('Mutate')).toBeVisible()
  await hands.reachAndPress(run.phase('Prepare').locator('summary'))
  await expect(run.phase('Prepare')).toContainText('"reservations"')
  await hands.expectFocusSeen()
  expect(complaints).toEqual([])
})

test('a question is settled, a session built, a template started and the database asked by keyboard alone', async ({
  page,
  complaints,
}) => {
  const { app, hands } = await sitDown(page, invoiceScript())
  await hands.press('g', 'i')
  await expect(app.heading('Inbox')).toBeFocused()
  await hands.reachAndPress(button(page, 'Skip these events'))
  await expect(page.getByText('Nothing needs you')).toBeVisible()
  // What had the focus is gone with the question.
  await expect(app.heading('Inbox')).toBeFocused()

  await hands.press('g', 's')
  await expect(app.heading('Sessions')).toBeFocused()
  await hands.reachAndPress(link(page, 'New session'))
  await expect(app.heading('New session')).toBeFocused()
  await hands.reach(page.getByRole('combobox', { name: 'Template' }))
  await hands.press('n')
  await expect(page.getByText('Ready to start.')).toBeVisible()
  await hands.reach(button(page, 'Create and start'), 'Shift+Tab')
  await hands.press('Enter')
  await expect(page).toHaveURL(/#\/sessions\/sess_/)
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await hands.reachAndPress(page.getByRole('group', { name: 'Agents of this session' }).getByRole('button'))
  await expect(hands.focused).toHaveAttribute('aria-pressed', 'true')
  await hands.reach(page.getByRole('log', { name: 'Events' }))
  await hands.press('g', 's')
  await hands.reachAndPress(page.getByRole('list', { name: 'Sessions' }).getByRole('link'))
  await expect(page).toHaveURL(/#\/sessions\/sess_/)

  await hands.press('g', 'g')
  await expect(app.heading('Gallery')).toBeFocused()
  await hands.reachAndPress(button(page, 'Use this: Heartbeat'))
  const dialog = page.getByRole('dialog')
  await expect(dialog).toBeVisible()
  await hands.press('Escape')
  await expect(button(page, 'Use this: Heartbeat')).toBeFocused()
  await hands.press('Enter')
  await hands.reachAndPress(dialog.getByRole('button', { name: 'Start it' }))
  await expect(app.heading('Heartbeat')).toBeFocused()

  await hands.press('g', 'q')
  await expect(app.heading('SQL')).toBeFocused()
  await hands.reachAndPress(page.getByRole('textbox', { name: 'Query' }), 'Control+a')
  await hands.type('SELECT name FROM workflows ORDER BY name')
  await hands.press('Control+Enter')
  const row = page.getByRole('table', { name: 'Result' }).getByRole('row').nth(1).getByRole('button')
  await hands.reachAndPress(row)
  await expect(dialog).toContainText('Heartbeat')
  await hands.press('Escape')
  await expect(row).toBeFocused()
  await hands.expectFocusSeen()
  expect(complaints).toEqual([])
})

test('scripts are imported and written, settings changed and everything found by keyboard alone', async ({
  page,
  complaints,
}) => {
  const { app, hands } = await sitDown(page)
  await hands.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Search and commands' })).toBeFocused()
  await hands.type('import')
  await expect(page.getByRole('dialog').getByRole('option', { selected: true })).toContainText('Import a workflow')
  await hands.press('Enter')
  await expect(app.heading('Import a workflow')).toBeFocused()
  await hands.reach(page.getByLabel('Link, file content or script'))
  await hands.type(triageScript())
  await hands.reachAndPress(button(page, 'Look at it'))
  await hands.reachAndPress(button(page, 'Import as a draft'))
  await expect(app.heading('Inbox triage')).toBeFocused()

  await hands.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(sheet).toContainText('Go to workflows')
  await hands.press('Escape')
  await expect(app.heading('Inbox triage')).toBeFocused()

  await hands.press('g', 't')
  const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
  await hands.reach(sections)
  for (let at = 1; at < (await sections.count()); at += 1) {
    await hands.press('ArrowRight', 'Enter')
    await expect(sections.nth(at)).toHaveAttribute('aria-current', 'page')
    await expect(sections.nth(at)).toBeFocused()
    if ((await hands.focused.innerText()).includes('Appearance')) {
      await hands.reachAndPress(page.getByRole('radio', { name: /System/ }), 'ArrowRight', 'ArrowRight')
      await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
      await hands.reach(sections.nth(at), 'Shift+Tab')
    }
  }

  await hands.press('g', 'w')
  await hands.reachAndPress(link(page, 'New workflow'))
  await expect(app.heading('Gallery')).toBeFocused()
  await hands.reachAndPress(link(page, 'Write your own'))
  await expect(app.heading('New workflow')).toBeFocused()
  const script = page.getByRole('textbox', { name: 'Script' })
  await hands.reachAndPress(script, 'Control+a')
  await hands.type(triageScript({ name: 'By hand' }))
  // Tab belongs to the text, until Escape gives it back.
  await hands.press('Control+Home', 'Tab')
  await expect(script).toBeFocused()
  await hands.press('Shift+Tab', 'Escape', 'Tab')
  await expect(script).not.toBeFocused()
  await hands.reach(button(page, 'Start…'), 'Shift+Tab')
  await hands.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Start this workflow' })).toBeVisible()
  await hands.press('Escape')
  await expect(button(page, 'Start…')).toBeFocused()
  await hands.press('Enter')
  await hands.reachAndPress(page.getByRole('dialog').getByRole('button', { name: 'Start it' }))
  await expect(app.heading('By hand')).toBeFocused()
  await hands.expectFocusSeen()
  expect(complaints).toEqual([])
})
