import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StepsOrder, StepsReport } from '../support/durability-site/steps.worker.ts'
import { dieAtEveryStep } from '../support/every-step.ts'
import { createProfile } from '../support/launch-chromium.ts'
import { launchRawChromium } from '../support/raw-chromium.ts'
import { serveSite, type ServedSite } from '../support/serve-site.ts'

let site: ServedSite
beforeAll(async () => {
  site = await serveSite('durability-site')
}, 120_000)
afterAll(() => site.close())

test('a browser that is killed at any step of opening or folding loses nothing that was acknowledged', async () => {
  const profile = await createProfile()
  /** A browser of its own for every order, on the same profile, killed when the order says so. */
  const giveOrder = async (order: StepsOrder): Promise<StepsReport> => {
    const chromium = await launchRawChromium(profile.folder)
    try {
      const page = await chromium.openTab('about:blank')
      await page.open(site.url)
      return await page.evaluate<StepsReport>(`giveOrder(${JSON.stringify(order)}, { isSpared: true })`)
    } finally {
      await chromium.kill()
    }
  }
  try {
    const report = await dieAtEveryStep({ strike: giveOrder, ask: giveOrder }, ['before', 'during', 'after'])
    console.log(JSON.stringify(report))
    expect(report).toMatchObject({ spared: [], losses: [] })
  } finally {
    await profile.remove()
  }
})
