import { afterAll, beforeAll, expect, test } from 'vitest'
import { killAgainAndAgain } from '../support/kill-suite.ts'
import { createProfile, launchChromium } from '../support/launch-chromium.ts'
import { killLeaders } from '../support/leader-deaths.ts'
import { serveSite, type ServedSite } from '../support/serve-site.ts'

let site: ServedSite
beforeAll(async () => {
  site = await serveSite('durability-site')
}, 120_000)
afterAll(() => site.close())

test('two hundred kills of the browser lose nothing that was acknowledged', async () => {
  const report = await killAgainAndAgain(site, { kills: 200, isDishonest: false })
  console.log(JSON.stringify(report))
  expect(report).toMatchObject({ kills: 200, losses: 0 })
})

test('a control that acknowledges before the flush is caught nearly every time', async () => {
  const { losses } = await killAgainAndAgain(site, { kills: 12, isDishonest: true })
  expect(losses).toBeGreaterThan(5)
})

test('fifty leaders die with two followers and work in flight, and nothing runs twice', async () => {
  const profile = await createProfile()
  const chromium = await launchChromium(profile.folder)
  try {
    const report = await killLeaders(chromium.context, site.url, 50)
    console.log(`${report.confirmed} calls confirmed, ${report.uncertain} answered with an error or not at all`)
    expect(report.twice).toEqual([])
    expect(report.missing).toEqual([])
    expect(report.confirmed).toBeGreaterThan(0)
  } finally {
    await chromium.kill()
    await profile.remove()
  }
})
