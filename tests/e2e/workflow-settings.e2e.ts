import { WorkflowSettingsPage } from './pages/workflow-settings-page.ts'
import { expectAccessible } from './support/axe.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('a workflow gets retries and a retention of its own, checked while they are typed, and both can be taken back', async ({
  page,
  complaints,
}) => {
  const app = new WorkflowSettingsPage(page)
  await app.open()
  const id = await app.deploy(triageScript())
  await app.settle()
  await app.show(id)

  const retries = app.card('Retries')
  const save = retries.getByRole('button', { name: 'Save the retries' })
  await expect(retries).toContainText('As everywhere: 5 retries, after 1 s, 2 s, 4 s, 8 s, and 16 s.')
  await expect(save).toBeDisabled()
  await app.field('Retries', 'Retries').fill('2.5')
  await expect(retries).toContainText('The number of retries must be a whole number from 0 to 100.')
  await expect(app.field('Retries', 'Retries')).toHaveAttribute('aria-invalid', 'true')
  await expect(save).toBeDisabled()
  await app.field('Retries', 'Retries').fill('2')
  await app.field('Retries', 'First wait, in seconds').fill('10')
  await app.field('Retries', 'Longest wait, in seconds').fill('5')
  await expect(retries).toContainText('The longest wait must not be shorter than the first one.')
  await expectAccessible(page)
  await app.field('Retries', 'Longest wait, in seconds').fill('60')
  await expect(retries).toContainText('2 retries, after 10 s and 20 s.')
  await page.keyboard.press('Enter')
  await expect(app.toasts).toContainText('Changed the retries')
  const policy = { retries: 2, firstDelayMs: 10_000, factor: 2, longestDelayMs: 60_000 }
  expect((await app.stored(id)).retryPolicy).toEqual(policy)
  await app.undo()
  await expect(retries).toContainText('As everywhere: 5 retries')
  expect((await app.stored(id)).retryPolicy).toBeNull()
  await app.ask('changeWorkflow', id, { retryPolicy: policy })
  await expect(app.field('Retries', 'Retries')).toHaveValue('2')
  await retries.getByRole('button', { name: 'As everywhere' }).click()
  await expect(retries).toContainText('As everywhere: 5 retries')

  const kept = app.field('Retention', 'Finished runs are kept')
  await expect(kept.locator('option:checked')).toHaveText('As everywhere: 30 days')
  await kept.selectOption('Another time …')
  await app.field('Retention', 'Days').fill('1.5')
  await expect(app.card('Retention')).toContainText('A whole number of days, up to 36,500.')
  await app.field('Retention', 'Days').fill('45')
  await page.keyboard.press('Enter')
  await expect(app.toasts).toContainText('Its runs are kept for 45 days')
  await expect(kept.locator('option:checked')).toHaveText('45 days')
  await kept.selectOption('For ever')
  await expect(app.toasts).toContainText('Its runs are kept for ever')
  expect((await app.stored(id)).retentionDays).toBe(0)
  await app.undo()
  await expect(kept.locator('option:checked')).toHaveText('45 days')
  await kept.selectOption('As everywhere: 30 days')
  await expect.poll(async () => (await app.stored(id)).retentionDays).toBeNull()
  expect(complaints).toEqual([])
})

test('name, budget, time zone, permissions and limits are checked, kept and taken back; a workflow is put away and comes back', async ({
  page,
  complaints,
}) => {
  const app = new WorkflowSettingsPage(page)
  await app.open()
  const id = await app.deploy(triageScript())
  await app.settle()
  await app.show(id)

  const save = app.card('General').getByRole('button', { name: 'Save', exact: true })
  await app.field('General', 'Budget').fill('0')
  await expect(app.card('General')).toContainText('A whole number from 1 to 100,000.')
  await expect(save).toBeDisabled()
  await app.field('General', 'Budget').fill('7')
  await app.field('General', 'Name').fill(' ')
  await expect(app.card('General')).toContainText('Give it a name.')
  await app.field('General', 'Name').fill('Post')
  await page.keyboard.press('Enter')
  await expect(app.heading('Post')).toBeVisible()
  expect(await app.stored(id)).toMatchObject({ name: 'Post', budget: 7 })
  await app.undo()
  await expect(app.heading('Inbox triage')).toBeVisible()
  expect(await app.stored(id)).toMatchObject({ budget: 100 })

  await app.field('General', 'Time zone').focus()
  await app.field('General', 'Time zone').selectOption('Asia/Tokyo')
  await expect.poll(async () => (await app.stored(id)).timezone).toBe('Asia/Tokyo')
  await app.undo()
  await expect(app.field('General', 'Time zone')).toHaveValue('')

  await app.field('Permissions', 'Grant another').fill('notify')
  await page.keyboard.press('Enter')
  await expect(app.card('Permissions').getByText('notify', { exact: true })).toBeVisible()
  await app.card('Permissions').getByRole('button', { name: 'Take back demo' }).click()
  await expect(app.card('Permissions')).toContainText('Its script also asks for demo.')
  expect((await app.stored(id)).permissions).toEqual(['notify'])
  await app.undo()
  await expect.poll(async () => (await app.stored(id)).permissions).toEqual(['demo', 'notify'])

  await app.field('Limits', 'Mutations a day').fill('0')
  await expect(app.card('Limits')).toContainText('A whole number above 0, or nothing.')
  await expect(app.card('Limits').getByRole('button', { name: 'Save the limits' })).toBeDisabled()
  await app.field('Limits', 'Mutations a day').fill('9')
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await app.stored(id)).limits).toEqual({ mutationsPerDay: 9 })

  const end = app.card('Put away or delete')
  await end.getByRole('button', { name: 'Archive' }).click()
  await expect(end.getByRole('button', { name: 'Restore' })).toBeVisible()
  expect((await app.stored(id)).status).toBe('archived')
  await end.getByRole('button', { name: 'Restore' }).click()
  await expect(end.getByRole('button', { name: 'Archive' })).toBeVisible()
  expect(complaints).toEqual([])
})

test('the private workflow of an agent says that its session decides, and offers nothing that would be refused', async ({
  page,
}) => {
  const app = new WorkflowSettingsPage(page)
  await app.open()
  const source = 'export default defineAgent({ async prepare() { return { data: {} } } })'
  const agents = [{ key: 'a', role: 'worker', task: 'Look', source }]
  const { sessionId } = await app.ask('createSession', { objective: 'Look around', strategy: 'parallel', agents })
  const [own] = await app.ask('listWorkflows', { ofAgents: true })
  await app.show(own?.id ?? '')
  await expect(app.card('Retries')).toContainText('For agents as everywhere: 5 retries')
  for (const name of ['Retention', 'Put away or delete']) {
    await expect(app.card(name).getByRole('link', { name: 'session' })).toHaveAttribute(
      'href',
      `#/sessions/${sessionId}`,
    )
    await expect(app.card(name).getByRole('button')).toHaveCount(0)
  }
})

test('a workflow without retries asks at the first failure, in the real engine', async ({ page }) => {
  const app = new WorkflowSettingsPage(page)
  await app.open()
  const id = await app.deploy(triageScript())
  await app.settle()
  await app.show(id)
  await app.field('Retries', 'Retries').fill('0')
  await page.keyboard.press('Enter')
  await expect(app.toasts).toContainText('Changed the retries')
  await app.ask('setDemoKnobs', { failNextRead: 1 })
  await app.ask('runWorkflow', id)
  await app.settle()
  expect(await app.ask('listEscalations', { open: true })).toMatchObject([{ kind: 'retries_exhausted' }])
})
