import type { Locator, Page } from '@playwright/test'

/** What needs a person. */
export class InboxPage {
  readonly page: Page
  readonly questions: Locator

  constructor(page: Page) {
    this.page = page
    this.questions = page.getByRole('article')
  }

  /** The question of one workflow. */
  of(workflowName: string): Locator {
    return this.questions.filter({ has: this.page.getByRole('link', { name: workflowName, exact: true }) })
  }

  async settle(workflowName: string, choice: string): Promise<void> {
    await this.of(workflowName).getByRole('button', { name: choice, exact: true }).click()
  }
}
