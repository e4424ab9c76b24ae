import type { Locator, Page } from '@playwright/test'

/** One run: its timeline and the attempt that is looked at. */
export class RunPage {
  readonly page: Page
  readonly timeline: Locator
  readonly panel: Locator

  constructor(page: Page) {
    this.page = page
    this.timeline = page.getByRole('region', { name: 'Timeline' })
    this.panel = page.getByRole('article')
  }

  row(name: string | RegExp): Locator {
    return this.timeline.getByRole('button', { name })
  }

  phase(name: string): Locator {
    return this.panel
      .locator('details')
      .filter({ has: this.page.locator('summary', { hasText: name }) })
      .first()
  }
}
