import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from '@playwright/test'
import { findChromium, isRoot } from '../../scripts/chromium.mjs'

export const chromiumArguments = [
  ...(isRoot ? ['--no-sandbox'] : []),
  '--headless=new',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface LaunchedChromium {
  browser: Browser
  context: BrowserContext
  newPage: () => Promise<Page>
  /** SIGKILL to the browser and all its processes, as when the power button is held down. */
  kill: () => Promise<void>
}

export async function chromiumPath(): Promise<string> {
  const path = process.env['CHROMIUM_PATH'] ?? (await findChromium())
  if (!path) throw new Error('No Chromium found: run `npm test`, or set CHROMIUM_PATH to one.')
  return path
}

export const createProfile = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-profile-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) }
}

/** A browser of our own on a profile of our own, so that it can be killed and started again on what it left behind. */
export async function launchChromium(profile: string): Promise<LaunchedChromium> {
  const args = [...chromiumArguments, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank']
  // A group of its own: the wrapper script, the browser and the renderers die together.
  const child = spawn(await chromiumPath(), args, {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It ended by itself in this moment.
      }
    }
    await exited
  }
  const endpoint = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (data: Buffer) => {
      said += data.toString()
      const found = /DevTools listening on (ws:\/\/\S+)/.exec(said)?.[1]
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error(`Chromium ended before it could be reached: ${said}`)))
  })
  const browser = await chromium.connectOverCDP(endpoint)
  const [context] = browser.contexts()
  if (!context) throw new Error('Chromium has no window to open pages in.')
  return { browser, context, newPage: () => context.newPage(), kill }
}
