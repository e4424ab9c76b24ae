import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './run.mjs'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const USUAL_PLACES = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  join(process.env.PROGRAMFILES ?? 'C:/Program Files', 'Google/Chrome/Application/chrome.exe'),
]

const PLAYWRIGHT_MINUTES = 5
const PLAYWRIGHT_CLI = 'node_modules/@playwright/test/cli.js'

export const isRoot = process.getuid?.() === 0

/** Each needs its program on the PATH and, but for brew, the rights of root. */
const PACKAGE_MANAGERS = [
  {
    program: 'apt-get',
    commands: [
      ['update', '-q'],
      ['install', '-y', '-q', '--no-install-recommends', 'chromium'],
    ],
  },
  { program: 'dnf', commands: [['install', '-y', 'chromium']] },
  { program: 'apk', commands: [['add', '--no-cache', 'chromium']] },
  { program: 'pacman', commands: [['-Sy', '--noconfirm', 'chromium']] },
  { program: 'brew', commands: [['install', '--cask', 'google-chrome']], needsNoRoot: true },
]

/** @param {string} name */
const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))

/** Some systems ship a `chromium` that only says how to install one: it has to start. On Windows asking opens a window. */
const starts = async (/** @type {string} */ path) =>
  process.platform === 'win32' || (await run(path, ['--version'], { stdio: 'ignore', timeoutMs: 20_000 })) === 0

async function playwrightsOwn() {
  const { chromium } = await import('@playwright/test')
  return chromium.executablePath()
}

/** @returns {Promise<string | null>} the path of a Chromium that starts */
export async function findChromium() {
  const candidates = [process.env.CHROMIUM_PATH, await playwrightsOwn(), ...NAMES.map(onPath), ...USUAL_PLACES]
  for (const path of candidates) {
    if (path && existsSync(path) && (await starts(path))) return path
  }
  return null
}

async function installByPlaywright() {
  console.log('No Chromium found: asking Playwright to download one …')
  const args = ['install', ...(isRoot && process.platform === 'linux' ? ['--with-deps'] : []), 'chromium']
  await run(process.execPath, [PLAYWRIGHT_CLI, ...args], { timeoutMs: PLAYWRIGHT_MINUTES * 60_000 })
}

async function installByPackageManager() {
  const manager = PACKAGE_MANAGERS.find(({ program, needsNoRoot }) => onPath(program) && (isRoot || needsNoRoot))
  if (!manager) return
  console.log(`Playwright brought none: installing Chromium with ${manager.program} …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of manager.commands) await run(manager.program, args, { env })
}

/** Finds a Chromium, or installs one. @returns {Promise<string | null>} */
export async function ensureChromium() {
  for (const install of [() => undefined, installByPlaywright, installByPackageManager]) {
    await install()
    const path = await findChromium()
    if (path) return path
  }
  return null
}
