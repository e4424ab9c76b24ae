import type { Locator, Page } from '@playwright/test'
import { AppPage } from './app-page.ts'

export class SettingsPage extends AppPage {
  readonly restoreDialog: Locator

  constructor(page: Page) {
    super(page)
    this.restoreDialog = page.getByRole('dialog', { name: /^Restore/ })
  }

  card(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true })
  }

  /** The bytes of a fresh backup, by its button. */
  async downloadBackup(): Promise<{ name: string; path: string }> {
    const waiting = this.page.waitForEvent('download')
    await this.page.getByRole('button', { name: 'Download a backup' }).click()
    const file = await waiting
    return { name: file.suggestedFilename(), path: await file.path() }
  }

  /** Of the engine itself, as numbers, because pages can hand over nothing else. */
  async exportedBytes(): Promise<number[]> {
    return this.page.evaluate(async () => {
      const exported = await globalThis.holdfast.exportDatabase()
      return exported.ok ? [...exported.value] : []
    })
  }

  chooseBackup(file: string | { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
    return this.page.getByLabel('Backup file').setInputFiles(file)
  }
}
