import { SessionPage } from './pages/session-page.ts'
import { expectAccessible } from './support/axe.ts'
import { expect, test } from './support/test.ts'

// Rich journeys on a shared machine: how long they take is not what is promised.
test.describe.configure({ timeout: 120_000 })

test('a session is put together with live checks, started, and watched to its end', async ({ page, complaints }) => {
  const session = new SessionPage(page)
  await session.openBuilder()
  // Nobody is blamed before they have begun.
  await expect(page.getByText('Say what is to be reached, and who is to do it.')).toBeVisible()
  await page.getByLabel('What is to be reached').press('Shift+Tab')
  await expect(page.getByText('Say in a sentence what is to be reached.')).toBeVisible()
  await page.getByLabel('What is to be reached').fill('Something')
  await expect(page.getByText('The session has no agents')).toBeVisible()
  await page.getByLabel('Template').selectOption('Morning briefing')
  await expect(page.getByText('Ready to start.')).toBeVisible()
  await expectAccessible(page)

  await session.agentForm('inbox').getByRole('checkbox', { name: 'filing' }).check()
  await expect(session.agentForm('inbox')).toContainText(/circle|cycle|wait for each other/i)
  await session.button('Create and start').click()
  await expect(page.getByText(/Nothing was created/)).toBeVisible()
  await session.agentForm('inbox').getByRole('checkbox', { name: 'filing' }).uncheck()
  await session.button('Create and start').click()

  await expect(page).toHaveURL(/#\/sessions\/sess_/)
  await expect(session.state).toHaveText(/Completed/, { timeout: 20_000 })
  await expect(session.events).toContainText('The session is complete')
  await session.agents.getByRole('button', { name: /briefing/ }).click()
  await expect(page).toHaveURL(/agent=briefing/)
  await expect(page.getByRole('region', { name: 'briefing' })).toContainText('customers on file')
  await expect(page.getByRole('region', { name: 'Messages' })).toContainText('The briefing is out')
  await expect(page.getByRole('region', { name: 'Shared context' })).toContainText('openQuestions')
  await expectAccessible(page)

  await page.goto('./#/sessions')
  await expect(page.getByRole('listitem').filter({ hasText: 'Tell the team' })).toContainText('5 of 5')
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('a session is paused, resumed and cancelled, and its copy waits to be started', async ({ page, complaints }) => {
  const session = new SessionPage(page)
  await page.goto('./')
  // Slow enough for a person to come in between.
  await page.evaluate(() => globalThis.holdfast.setDemoKnobs({ latencyMs: 1_500 }))
  await session.openBuilder('new-customer')
  await expect(page.getByText('Ready to start.')).toBeVisible()
  await session.button('Create').click()
  await expect(session.state).toHaveText(/Not started/)

  await session.button('Start').click()
  await expect(session.state).toHaveText(/Running/)
  await session.button('Pause').click()
  await expect(session.state).toHaveText(/Paused/)
  await page.reload()
  await expect(session.state).toHaveText(/Paused/)
  await session.button('Resume').click()
  await expect(session.state).toHaveText(/Running/)
  await session.choose('Cancel')
  await expect(session.state).toHaveText(/Cancelled/)
  await expect(session.events).toContainText('The session was cancelled')

  await session.button('Clone').click()
  await expect(session.state).toHaveText(/Not started/)
  expect(complaints).toEqual([])
})
