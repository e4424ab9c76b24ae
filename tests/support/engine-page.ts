import type { Page } from '@playwright/test'
import type { HowToOpen } from './engine-site/measured.worker.ts'
import type {} from './engine-site/site.ts'
import { createProfile, launchChromium } from './launch-chromium.ts'
import { serveSite } from './serve-site.ts'

export interface EnginePage {
  page: Page
  /** SIGKILL, and a new browser on what was left behind. Nothing is opened yet. */
  relaunch: () => Promise<Page>
  close: () => Promise<void>
}

/** The engine in a real browser on a profile of its own, with one tool that does nothing. */
export const openEnginePage = async (database: string, how: HowToOpen = {}): Promise<EnginePage> => {
  const site = await serveSite('engine-site')
  const profile = await createProfile()
  let chromium = await launchChromium(profile.folder)
  const openPage = async (): Promise<Page> => {
    const page = await chromium.newPage()
    await page.goto(site.url)
    return page
  }
  const page = await openPage()
  await page.evaluate(([name, asked]) => globalThis.measured.open(name, asked), [database, how] as const)
  return {
    page,
    relaunch: async () => {
      await chromium.kill()
      chromium = await launchChromium(profile.folder)
      return openPage()
    },
    close: async () => {
      await chromium.kill()
      await site.close()
      await profile.remove()
    },
  }
}
