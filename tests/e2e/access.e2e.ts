import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { AppPage } from './pages/app-page.ts'
import { invoiceScript, triageScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

const SIZES = [
  { width: 1280, height: 900 },
  { width: 360, height: 740 },
]

/** Every address that there is something to see at; the editor, the gallery, sessions and SQL are judged where they are used. */
async function addresses(app: AppPage): Promise<string[]> {
  const good = await app.deploy(triageScript())
  const bad = await app.deploy(invoiceScript())
  await app.settle()
  const { rows } = await app.ask('listRuns', { limit: 20 })
  const runs = [good, bad].map((id) => rows.find(({ workflowId }) => workflowId === id)?.id ?? '')
  const event = (await app.ask('listEvents', { workflowId: good, limit: 1 })).rows[0]?.id ?? ''
  return [
    '#/',
    '#/workflows',
    `#/workflows/${bad}`,
    `#/workflows/${good}/graph`,
    `#/workflows/${good}/graph?view=list`,
    `#/workflows/${good}/runs`,
    `#/workflows/${good}/events?event=${event}`,
    `#/workflows/${good}/settings`,
    ...runs.map((id) => `#/runs/${id}`),
    '#/inbox',
    '#/inbox?show=settled',
    '#/settings',
    '#/settings/backup',
    '#/settings/engine',
    '#/import',
    '#/demo',
    '#/settings/connections',
    '#/settings/notifications',
    '#/nowhere',
  ]
}

async function problemsOf(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every screen is accessible and stays within its width, ${colorScheme}`, async ({ page, complaints }) => {
    test.setTimeout(180_000)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const app = new AppPage(page)
    await app.open()
    const all = await addresses(app)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      for (const address of all) {
        await app.go(address)
        await expect(page.locator('#main')).not.toContainText('Loading')
        await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
        expect.soft(await problemsOf(page), `${address} at ${size.width} px`).toEqual([])
        const width = await page.evaluate(() => document.documentElement.scrollWidth)
        expect.soft(width, `${address} at ${size.width} px scrolls sideways`).toBe(size.width)
      }
    }
    await page.keyboard.press('Control+k')
    await expect(page.getByRole('combobox')).toBeVisible()
    expect.soft(await problemsOf(page), 'palette').toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
    expect.soft(await problemsOf(page), 'shortcuts').toEqual([])
    expect(complaints).toEqual([])
  })
}
