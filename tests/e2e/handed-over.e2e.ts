import { AppPage } from './pages/app-page.ts'
import { expect, test } from './support/test.ts'

test('a backup that the system hands over is looked at first, and a shared link opens where it leads', async ({
  page,
  complaints,
}) => {
  // As the installed application gets it when a file of ours is opened from the file manager.
  await page.addInitScript(() => {
    const file = new File(['no database'], 'old.sqlite')
    const queue = {
      setConsumer: (consume: (launch: unknown) => void) =>
        consume({ files: [{ getFile: () => Promise.resolve(file) }] }),
    }
    Object.defineProperty(globalThis, 'launchQueue', { value: location.search === '' ? queue : undefined })
  })
  const app = new AppPage(page)
  await app.open()
  await expect(page).toHaveURL(/#\/settings\/backup$/)
  await expect(page.getByRole('dialog')).toContainText('old.sqlite')

  const link = encodeURIComponent('https://holdfast.example/#/import?w=abc')
  await page.goto(`./?text=${link}`)
  await expect(page).toHaveURL(/\/#\/import\?w=abc$/)
  expect(complaints).toEqual([])
})
