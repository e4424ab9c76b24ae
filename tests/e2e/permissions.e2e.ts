import { AppPage } from './pages/app-page.ts'
import { EditorPage } from './pages/editor-page.ts'
import { InboxPage } from './pages/inbox-page.ts'
import { triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('a version that asks for more shows it before it runs, and what was not granted is asked for when it is needed', async ({
  page,
  complaints,
}) => {
  const app = new AppPage(page)
  await app.open('#/')
  const source = triageScript().replace(`permissions: ['demo']`, `permissions: ['demo', 'notify']`)
  const { workflowId: id } = await app.ask('deployWorkflow', { source, activate: false })
  await app.go(`#/workflows/${id}/script`)
  const editor = new EditorPage(page)
  await editor.text.waitFor()
  const second = triageScript()
    .replace(`permissions: ['demo']`, `permissions: ['demo', 'clipboard']`)
    .replace(/await ctx\.demo\.sheet\.append\(.*\)/, `await ctx.clipboard.write(prepared.data.from)`)
  await editor.replaceAll(second)
  await editor.button('Save…').click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('group', { name: 'It asks for more than it may now' })).toContainText(
    'Write to the clipboard',
  )
  await expect(dialog).not.toContainText('Use the demo inbox')
  await expect(dialog).toContainText('It no longer asks for notify')
  await dialog.getByRole('checkbox', { name: /clipboard/ }).uncheck()
  await dialog.getByRole('button', { name: 'Save version 2' }).click()
  await expect(dialog).toBeHidden()
  expect((await app.ask('getWorkflow', id)).permissions).toEqual(['demo', 'notify'])

  await app.ask('resumeWorkflow', id)
  await app.go('#/inbox')
  const question = new InboxPage(page).of('Inbox triage')
  await expect(question).toContainText('needs the permission "clipboard"')
  await question.getByRole('button', { name: 'Grant', exact: true }).click()
  await expect(question).toBeHidden()
  expect((await app.ask('getWorkflow', id)).permissions).toContain('clipboard')
  expect(complaints).toEqual([])
})
