import type { Page } from '@playwright/test'
import type {} from './engine-site/site.ts'
import { createProfile, launchChromium } from './launch-chromium.ts'
import { serveSite } from './serve-site.ts'

export interface EnginePage {
  page: Page
  close: () => Promise<void>
}

/** The engine in a real browser on a profile of its own, with one tool that does nothing. */
export const openEnginePage = async (database: string): Promise<EnginePage> => {
  const site = await serveSite('engine-site')
  const profile = await createProfile()
  const chromium = await launchChromium(profile.folder)
  const page = await chromium.newPage()
  await page.goto(site.url)
  await page.evaluate((name) => globalThis.measured.open(name), database)
  return {
    page,
    close: async () => {
      await chromium.kill()
      await site.close()
      await profile.remove()
    },
  }
}
