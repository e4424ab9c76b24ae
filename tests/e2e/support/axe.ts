import { expect, type Page } from '@playwright/test'
import axe from 'axe-core'

const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'light', width: 360 },
] as const

/** By axe itself, put into the page once: its driver for browsers opens another page for every question, which takes five times as long. */
async function violationsIn(page: Page, selector: string): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(async (scope) => {
    const judge = Reflect.get(globalThis, 'axe') as typeof axe
    const { violations } = await judge.run(scope, { resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
    )
  }, selector)
}

/** What is wrong with the screen, and what is open on it, in either theme, wide or narrow; also that it scrolls sideways. */
export async function problemsOf(page: Page, selector: string): Promise<string[]> {
  const problems: string[] = []
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    const found = await violationsIn(page, selector)
    const scrolls = await page.evaluate(() => document.documentElement.scrollWidth)
    if (scrolls !== width) found.push(`It scrolls sideways: ${scrolls} px.`)
    problems.push(...found.map((one) => `${colorScheme} at ${width} px: ${one}`))
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  return problems
}

export async function expectAccessible(page: Page): Promise<void> {
  expect(await problemsOf(page, '#main')).toEqual([])
}
