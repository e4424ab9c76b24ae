import type { Locator, Page } from '@playwright/test'
import { AppPage } from './app-page.ts'

export class ImportPage extends AppPage {
  readonly permissions: Locator
  readonly problem: Locator
  readonly save: Locator

  constructor(page: Page) {
    super(page)
    this.permissions = page.getByRole('group', { name: 'It may' })
    this.problem = page.getByRole('alert')
    this.save = page.getByRole('button', { name: 'Import as a draft' })
  }

  /** The link that "Share" of a workflow gives. */
  async linkOf(workflowId: string): Promise<string> {
    await this.go(`#/workflows/${workflowId}`)
    await this.page.getByRole('button', { name: 'More actions' }).click()
    await this.page.getByRole('menuitem', { name: 'Share …' }).click()
    return this.page.getByRole('dialog').getByLabel('Link').inputValue()
  }

  chooseFile(name: string, content: string): Promise<void> {
    const file = { name, mimeType: 'application/json', buffer: Buffer.from(content) }
    return this.page.getByLabel('Workflow file').setInputFiles(file)
  }
}
