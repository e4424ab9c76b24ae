import type { Locator, Page } from '@playwright/test'

export class GalleryPage {
  readonly cards: Locator
  readonly dialog: Locator

  readonly page: Page

  constructor(page: Page) {
    this.page = page
    this.cards = page.getByRole('article')
    this.dialog = page.getByRole('dialog')
  }

  async open(): Promise<void> {
    await this.page.goto('./#/gallery')
    await this.cards.first().waitFor()
  }

  async use(title: string): Promise<void> {
    await this.page.getByRole('button', { name: `Use this: ${title}` }).click()
    await this.dialog.waitFor()
  }

  async search(text: string): Promise<void> {
    await this.page.getByRole('searchbox', { name: 'Search the gallery' }).fill(text)
  }
}
