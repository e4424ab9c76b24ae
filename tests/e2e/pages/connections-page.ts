import type { Locator } from '@playwright/test'
import { SettingsPage } from './settings-page.ts'

/** The section "Connections and secrets" of the settings. */
export class ConnectionsPage extends SettingsPage {
  get dialog(): Locator {
    return this.page.getByRole('dialog')
  }

  press(name: string): Promise<void> {
    return this.dialog.getByRole('button', { name, exact: true }).click()
  }

  async addSecret(name: string, value: string, hosts: string): Promise<void> {
    await this.card('Secrets').getByRole('button', { name: 'Add…' }).click()
    await this.dialog.getByLabel('Name').fill(name)
    await this.dialog.getByLabel('Value').fill(value)
    await this.dialog.getByLabel('Hosts it may go to').fill(hosts)
    await this.press('Add it')
  }

  /** Every text and every byte that this origin keeps anywhere, as one text. */
  keptByBrowser(): Promise<string> {
    return this.page.evaluate(async () => {
      const found: string[] = [
        JSON.stringify(Object.entries(localStorage)),
        JSON.stringify(Object.entries(sessionStorage)),
        location.href,
      ]
      const read = (value: unknown, depth = 0): void => {
        if (value instanceof ArrayBuffer) read(new Uint8Array(value), depth)
        else if (ArrayBuffer.isView(value)) {
          found.push(new TextDecoder('latin1').decode(value))
        } else if (typeof value === 'object' && value !== null && depth < 6) {
          for (const [key, inner] of Object.entries(value)) {
            found.push(key)
            read(inner, depth + 1)
          }
        } else found.push(String(value))
      }
      const asked = <T>(request: IDBRequest<T>): Promise<T> =>
        new Promise((resolve, reject) => {
          request.onsuccess = () => resolve(request.result)
          request.onerror = () => reject(new Error('IndexedDB refused'))
        })
      for (const { name = '' } of await indexedDB.databases()) {
        const database = await asked(indexedDB.open(name))
        for (const store of database.objectStoreNames) {
          const table = database.transaction(store).objectStore(store)
          read(await asked(table.getAll()))
          read(await asked(table.getAllKeys()))
        }
        database.close()
      }
      return found.join('\n')
    })
  }
}
