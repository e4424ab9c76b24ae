import type { Worker } from '@playwright/test'
import { AppPage } from './pages/app-page.ts'
import { SettingsPage } from './pages/settings-page.ts'
import { expect, test } from './support/test.ts'

test.use({ serviceWorkers: 'allow', permissions: ['notifications'] })

const script = `
export default defineWorkflow({
  name: 'Teller',
  permissions: ['notify'],
  topics: { news: {} },
  consumers: {
    tell: {
      subscribe: ['news'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('news', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'news', ids: [event.messageId] }], data: event.payload }
      },
      async mutate({ data }, ctx) { await ctx.notify.show({ title: data, body: 'Look at it' }) },
    },
  },
})`

/** As much of a service worker as is needed here: the types of pages do not know it. */
interface NotifyingScope extends EventTarget {
  registration: { getNotifications(): Promise<Notification[]> }
  NotificationEvent: new (type: string, init: { notification: Notification }) => Event
}

/** In the service worker, as the system would say it: nobody can click what a headless browser shows. */
const click = (worker: Worker, title: string): Promise<void> =>
  worker.evaluate(async (wanted) => {
    const scope = globalThis as unknown as NotifyingScope
    const shown = await scope.registration.getNotifications()
    const notification = shown.find((one) => one.title === wanted)
    if (!notification) throw new Error(`There are ${shown.map((one) => one.title).join(', ') || 'none'}`)
    scope.dispatchEvent(new scope.NotificationEvent('notificationclick', { notification }))
  }, title)

test('a workflow shows a notification of the system, and a click on it opens its run', async ({ page, context }) => {
  const settings = new SettingsPage(page)
  await settings.open('#/settings/notifications')
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })
  await settings.card('Notifications').getByRole('button', { name: 'Show one now' }).click()
  await expect(settings.toasts).toContainText('Sent')

  const app = new AppPage(page)
  const id = await app.deploy(script)
  await app.ask('publishEvent', id, 'news', { messageId: 'n1', payload: 'The harvest is in' })
  await app.settle()
  expect(await app.ask('sql', 'SELECT status FROM mutations')).toEqual([{ status: 'applied' }])
  const [worker] = context.serviceWorkers()
  if (!worker) throw new Error('There is no service worker.')
  await click(worker, 'The harvest is in')
  await expect(page).toHaveURL(/#\/runs\/hr_/)
  await expect(page.locator('#main')).toContainText('Teller')
})
