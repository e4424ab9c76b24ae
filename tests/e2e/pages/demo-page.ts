import { expect, type Locator, type Page } from '@playwright/test'

/** The first minute: the welcome, the live demo, and what becomes of killing it. */
export class DemoPage {
  readonly page: Page
  readonly banner: Locator
  readonly story: Locator
  readonly books: Locator
  readonly graph: Locator

  constructor(page: Page) {
    this.page = page
    this.banner = page.getByRole('region', { name: 'Live demo' })
    this.story = page.getByRole('region', { name: 'What happened' })
    this.books = page.getByRole('region', { name: 'The books of the outside world' })
    this.graph = page.getByRole('group', { name: 'Graph of Inbox triage' })
  }

  async start(): Promise<void> {
    await this.page.getByRole('button', { name: 'Start with a live demo' }).click()
    await expect(this.page).toHaveURL(/#\/demo$/)
  }

  /** A number in the books of the demo world. */
  async booked(label: string): Promise<number> {
    return Number(await this.books.locator(`div:has(> dt:text-is("${label}")) > dd`).innerText())
  }

  async kill(): Promise<void> {
    await this.banner.getByRole('button', { name: /^Kill/ }).click()
    await expect(this.banner).toContainText('Back after')
  }
}
