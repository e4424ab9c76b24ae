import type {} from '#ui/client/engine-client.ts' // brings the type of globalThis.holdfast
import { test as base } from '@playwright/test'
import { fileURLToPath } from 'node:url'
import { createStaticServer, listen } from '../../../scripts/serve.mjs'

const DIST = fileURLToPath(new URL('../../../dist', import.meta.url))

interface WorkerFixtures {
  appUrl: string
}

interface Fixtures {
  /** What the page complained about: console errors, uncaught errors, violations of the content security policy. */
  complaints: string[]
}

/** Each Playwright worker serves the built application on a port of its own, and so has an origin of its own. */
export const test = base.extend<Fixtures, WorkerFixtures>({
  appUrl: [
    async ({}, use) => {
      const server = createStaticServer(DIST)
      await use(await listen(server, 0))
      server.closeAllConnections()
      server.close()
    },
    { scope: 'worker' },
  ],

  baseURL: async ({ appUrl }, use) => use(appUrl),

  complaints: async ({ page }, use) => {
    const complaints: string[] = []
    page.on('console', (message) => {
      const isOurs = !message.text().includes('Service Worker registration blocked by Playwright')
      if (isOurs && (message.type() === 'error' || message.type() === 'warning')) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) =>
        console.error(`${event.violatedDirective} ${event.blockedURI}`),
      )
    })
    await use(complaints)
  },
})

export { expect } from '@playwright/test'
