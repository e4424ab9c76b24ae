import type { Locator } from '@playwright/test'
import type { WorkflowDetail } from '#worker/api.ts'
import { AppPage } from './app-page.ts'

/** The tab Settings of a workflow. */
export class WorkflowSettingsPage extends AppPage {
  async show(workflowId: string): Promise<void> {
    await this.go(`#/workflows/${workflowId}/settings`)
    await this.card('General').waitFor()
  }

  card(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true })
  }

  /** A field of a card, by its label. */
  field(card: string, label: string): Locator {
    return this.card(card).getByLabel(label, { exact: true })
  }

  stored(workflowId: string): Promise<WorkflowDetail> {
    return this.ask('getWorkflow', workflowId)
  }

  /** Of the newest notification. */
  undo(): Promise<void> {
    return this.toasts.getByRole('button', { name: 'Undo' }).last().click()
  }
}
