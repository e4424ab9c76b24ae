import { test as base } from '@playwright/test'
import { serveSite, type ServedSite } from '../../support/serve-site.ts'

export type { ServedSite }
export { expect } from '@playwright/test'

/** Each Playwright worker builds and serves the page on which persistence is tried by itself. */
export const test = base.extend<object, { site: ServedSite }>({
  site: [
    async ({}, use) => {
      const site = await serveSite('durability-site')
      await use(site)
      await site.close()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
})
