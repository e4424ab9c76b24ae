import type { Locator, Page } from '@playwright/test'

/** The script editor, wherever it is shown. */
export class EditorPage {
  readonly text: Locator
  readonly problems: Locator
  readonly completions: Locator

  readonly page: Page

  constructor(page: Page) {
    this.page = page
    this.text = page.getByRole('textbox', { name: 'Script' })
    this.problems = page.locator('#main').getByRole('status')
    this.completions = page.getByRole('listbox')
  }

  async open(query = ''): Promise<void> {
    await this.page.goto(`./#/workflows/new${query}`)
    await this.text.waitFor()
  }

  /** Writes the whole text anew, as a paste would. */
  async replaceAll(source: string): Promise<void> {
    await this.text.focus()
    await this.page.keyboard.press('ControlOrMeta+a')
    await this.page.keyboard.insertText(source)
  }

  line(text: string): Locator {
    return this.page.locator('.cm-line').filter({ hasText: text })
  }

  async typeAfter(lineText: string, text: string): Promise<void> {
    await this.line(lineText).first().click()
    await this.page.keyboard.press('End')
    await this.page.keyboard.press('Enter')
    await this.page.keyboard.type(text)
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }
}
