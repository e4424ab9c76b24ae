import type { Locator, Page } from '@playwright/test'
import { AppPage } from './app-page.ts'

export class SqlPage extends AppPage {
  readonly editor: Locator
  readonly result: Locator
  readonly problem: Locator
  readonly saved: Locator

  constructor(page: Page) {
    super(page)
    this.editor = page.getByRole('textbox', { name: 'Query' })
    this.result = page.getByRole('table', { name: 'Result' })
    this.problem = page.getByRole('alert')
    this.saved = page.getByRole('list', { name: 'Saved queries' })
  }

  /** By the keys, as one would. */
  async run(sql: string): Promise<void> {
    await this.editor.fill(sql)
    await this.editor.press('Control+Enter')
  }

  async save(name: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Save…' }).click()
    const dialog = this.page.getByRole('dialog', { name: 'Save this query' })
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  }
}
