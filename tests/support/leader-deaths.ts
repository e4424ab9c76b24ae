import type { BrowserContext, Page } from '@playwright/test'
import type {} from './durability-site/site.ts'

/**
 * Three tabs work at the same time; the leader dies, again and again, by closing and by crashing. A call that was confirmed must
 * have happened exactly once, one that was answered with an error at most once.
 */
export async function killLeaders(context: BrowserContext, url: string, deaths: number) {
  const open = async () => {
    const page = await context.newPage()
    await page.goto(url)
    await page.evaluate(() => globalThis.ledger.role())
    return page
  }
  const isLeader = (page: Page) => page.evaluate(async () => (await globalThis.ledger.role()) === 'leader')
  const tabs = [await open(), await open(), await open()]
  const asked: { call: string; answer: number | null }[] = []
  const ask = async (page: Page, call: string) => {
    const entry = { call, answer: null as number | null }
    asked.push(entry)
    await page
      .evaluate((call) => globalThis.ledger.add(call), call)
      .then(
        (answer) => (entry.answer = answer),
        // Its own tab died.
        () => undefined,
      )
  }
  for (let death = 0; death < deaths; death++) {
    let leader: Page | undefined
    while (!leader) for (const page of tabs) if (await isLeader(page)) leader = page
    const calls = tabs.flatMap((page, tab) => Array.from({ length: 8 }, (_, n) => ask(page, `${death}/${tab}/${n}`)))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
    tabs.splice(tabs.indexOf(leader), 1)
    if (death % 2) {
      const cdp = await context.newCDPSession(leader)
      cdp.send('Page.crash').catch(() => undefined)
    } else void leader.close()
    await Promise.all(calls)
    tabs.push(await open())
  }
  const [survivor] = tabs
  if (!survivor) throw new Error('No tab is left.')
  const counts = new Map<string, number>()
  for (const { call } of asked) {
    counts.set(call, await survivor.evaluate((call) => globalThis.ledger.count(call), call))
  }
  await survivor.evaluate(() => globalThis.ledger.check())
  const isConfirmed = ({ answer }: { answer: number | null }) => answer !== null && answer > 0
  return {
    confirmed: asked.filter(isConfirmed).length,
    uncertain: asked.filter((each) => !isConfirmed(each)).length,
    twice: [...counts].filter(([, count]) => count > 1),
    missing: asked.filter((each) => isConfirmed(each) && counts.get(each.call) !== 1),
  }
}
