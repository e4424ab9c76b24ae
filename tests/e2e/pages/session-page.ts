import type { Locator, Page } from '@playwright/test'

/** One session, and the screen on which it is put together. */
export class SessionPage {
  readonly page: Page
  readonly state: Locator
  readonly events: Locator
  readonly agents: Locator

  constructor(page: Page) {
    this.page = page
    this.state = page.locator('#main header .badge').first()
    this.events = page.getByRole('log', { name: 'Events' })
    this.agents = page.getByRole('group', { name: 'Agents of this session' })
  }

  async openBuilder(template = ''): Promise<void> {
    await this.page.goto(`./#/sessions/new${template === '' ? '' : `?template=${template}`}`)
    await this.page.getByRole('heading', { name: 'New session' }).waitFor()
  }

  agentForm(name: string): Locator {
    return this.page.getByRole('group', { name, exact: true })
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  async choose(action: string): Promise<void> {
    await this.button('More actions').click()
    await this.page.getByRole('menuitem', { name: action }).click()
  }
}
