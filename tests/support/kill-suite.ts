import { createProfile } from './launch-chromium.ts'
import { launchRawChromium } from './raw-chromium.ts'
import type { ServedSite } from './serve-site.ts'

export interface KillReport {
  kills: number
  acknowledged: number
  /** Kills after which something acknowledged was missing. */
  losses: number
  /** Kills after which the browser threw its database away, and it was put together from files. */
  restored: number
  /** What was missing, for people who look into it. */
  details: string[]
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Kills the browser at random moments while it writes, again and again on the same profile. After each kill the database must
 * open, be sound, and be a prefix of what was committed; what was acknowledged and is missing is counted.
 */
export async function killAgainAndAgain(
  site: ServedSite,
  options: { kills: number; isDishonest: boolean; random?: () => number },
): Promise<KillReport> {
  const { random = Math.random } = options
  const profile = await createProfile()
  const report: KillReport = { kills: 0, acknowledged: -1, losses: 0, restored: 0, details: [] }
  try {
    for (let round = 0; round <= options.kills; round++) {
      const chromium = await launchRawChromium(profile.folder)
      try {
        const page = await chromium.openTab('about:blank')
        let latest = -1
        await page.bind('acknowledge', (entry) => {
          latest = Math.max(latest, Number(entry))
        })
        await page.open(site.url)
        const opening = page.evaluate<number>(
          `ledger.hammer(proxied((entry) => acknowledge(String(entry))), { isDishonest: ${options.isDishonest} })`,
        )
        // Every fourth time it dies while it is still opening.
        if (round % 4 === 3 && round < options.kills) {
          opening.catch(() => undefined)
          await pause(random() * 150)
          await chromium.kill()
          report.kills++
          continue
        }
        const found = await opening
        if (await page.evaluate<boolean>('ledger.wasRestored()')) report.restored++
        if (found < report.acknowledged) {
          report.losses++
          report.details.push(`round ${round}: ${found} found, ${report.acknowledged} acknowledged`)
        }
        if (round === options.kills) break
        // What was lost once is gone: from here on only what is there now counts.
        report.acknowledged = Math.max(found, 0)
        while (latest <= found) await pause(5)
        await pause(random() * 400)
        await chromium.kill()
        report.kills++
        report.acknowledged = latest
      } finally {
        await chromium.kill()
      }
    }
    return report
  } finally {
    await profile.remove()
  }
}
