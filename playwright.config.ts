import { defineConfig } from '@playwright/test'
import { findChromium, isRoot } from './scripts/chromium.mjs'

const executablePath = await findChromium()
if (executablePath === null) throw new Error('No Chromium found: run `npm test`, or set CHROMIUM_PATH to one.')
// The worker processes read this configuration again: spare them the search.
process.env.CHROMIUM_PATH = executablePath

/** Chromium's own sandbox does not start as root; the others keep it from talking to its vendor. */
const args = [
  ...(isRoot ? ['--no-sandbox'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export default defineConfig({
  // Two shared, noisy cores: a promise is about what happens, not about how fast a loaded machine gets there.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  testDir: 'tests/e2e',
  testMatch: '**/*.e2e.ts',
  outputDir: 'test-results',
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  reporter: 'list',
  use: {
    launchOptions: { executablePath, args },
    trace: 'retain-on-failure',
    // Fetching a whole release for later would slow down every test: only the one about it allows it.
    serviceWorkers: 'block',
  },
})
