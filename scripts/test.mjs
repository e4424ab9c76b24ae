import { fileURLToPath } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { giveUp, npm } from './run.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

await ensureInstalled()
const { ensureChromium } = await import('./chromium.mjs')
const chromium = await ensureChromium()
if (!chromium) {
  giveUp(
    'No Chromium was found and none could be installed: install one and set CHROMIUM_PATH to it, then run `npm test`.',
  )
}
process.exitCode = await npm(['run', '--silent', 'verify'], { env: { ...process.env, CHROMIUM_PATH: chromium } })
