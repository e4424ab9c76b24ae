import * as v from 'valibot'
import { defineMethod, oneObject, type DocumentedMethod } from './define-method.ts'
import { refused, succeeded } from './outcomes.ts'

export interface NotificationRequest {
  title: string
  body: string
  /** A second one with the same tag replaces the first, so that a repetition is no second notification. */
  tag: string
  /** A click leads there. */
  handlerRunId: string
}

export interface Notifier {
  permission(): 'granted' | 'denied' | 'default'
  /** Rejects when nothing is shown. */
  show(request: NotificationRequest): Promise<void>
}

export function createNotifyTools(notifier: Notifier): DocumentedMethod[] {
  return [
    defineMethod({
      name: 'notify.show',
      kind: 'mutation',
      title: 'Show a notification',
      doc: {
        signature: '(notification: { title: string; body?: string }) => Promise<null>',
        text: 'Shows a notification of the system; a click opens the run it came from.',
        example: "await ctx.notify.show({ title: 'A new order', body: 'Ada would like the same again' })",
      },
      arguments: oneObject,
      input: v.strictObject({
        title: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
        body: v.optional(v.pipe(v.string(), v.maxLength(2_000)), ''),
      }),
      permissions: () => ['notify'],
      async call({ title, body }, { idempotencyKey, handlerRunId }) {
        if (notifier.permission() !== 'granted') {
          return refused(
            'auth',
            'Notifications are not allowed for this page. Allow them under Settings, Notifications, then retry.',
          )
        }
        try {
          await notifier.show({ title, body, tag: idempotencyKey ?? handlerRunId, handlerRunId })
          return succeeded(null)
        } catch (error) {
          // Trying again can do no harm: see the tag.
          return refused('network', `The notification could not be shown: ${String(error)}`)
        }
      },
      whereToCheck: ({ title }) => `Look for "${title}" among the notifications of your system.`,
    }),
  ]
}

interface NotifyingPage {
  /** Shows it by the service worker, whose click works also when every tab is gone; false where there is none. */
  showNotification?: (request: NotificationRequest) => Promise<boolean>
  openRun: (handlerRunId: string) => void
}

/** Notifications from inside of a dedicated worker; only the page can ask for the permission. */
export function createWorkerNotifier(
  NotificationType: typeof Notification | undefined,
  { showNotification = () => Promise.resolve(false), openRun }: NotifyingPage,
): Notifier {
  return {
    permission: () => NotificationType?.permission ?? 'denied',
    async show(request) {
      if (await showNotification(request)) return
      const { title, body, tag, handlerRunId } = request
      await new Promise<void>((resolve, reject) => {
        if (!NotificationType) throw new Error('this browser has no notifications')
        const notification = new NotificationType(title, { body, tag })
        notification.onshow = () => resolve()
        notification.onerror = () => reject(new Error('the system refused it'))
        notification.onclick = () => {
          notification.close()
          openRun(handlerRunId)
        }
      })
    },
  }
}
