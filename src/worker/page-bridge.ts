import { pageChannel, type PageAnswer, type PageRequest } from '#engine/model/page-request.ts'
import type { NotificationRequest } from './tools/notify.ts'

const ANSWER_WITHIN_MS = 5_000

export interface PageBridge {
  /** Rejects when no page that can do it answered in time. */
  writeClipboard(text: string): Promise<void>
  /** False when no page could; rejects when one tried in vain. */
  showNotification(request: NotificationRequest): Promise<boolean>
  openRun(handlerRunId: string): void
  close(): void
}

/** What only a page can do: a worker has no clipboard, no window and no service worker. */
export function createPageBridge(): PageBridge {
  const channel = new BroadcastChannel(pageChannel)
  const waiting = new Map<string, (answer: PageAnswer) => void>()
  channel.onmessage = ({ data }: MessageEvent<PageRequest | PageAnswer>) => {
    if (data.kind === 'answer') waiting.get(data.id)?.(data)
  }
  const post = (request: PageRequest): void => channel.postMessage(request)

  /** Undefined when nobody answered. */
  const ask = (make: (id: string) => PageRequest): Promise<PageAnswer | undefined> =>
    new Promise((resolve) => {
      const id = crypto.randomUUID()
      const settle = (answer?: PageAnswer): void => {
        clearTimeout(timer)
        waiting.delete(id)
        resolve(answer)
      }
      const timer = setTimeout(settle, ANSWER_WITHIN_MS)
      waiting.set(id, settle)
      post(make(id))
    })

  return {
    async writeClipboard(text) {
      const answer = await ask((id) => ({ kind: 'write_clipboard', id, text }))
      if (!answer) throw new Error('no window of the app is in front')
      if (answer.problem !== null) throw new Error(answer.problem)
    },
    async showNotification({ title, body, tag, handlerRunId }) {
      const href = `#/runs/${handlerRunId}`
      const answer = await ask((id) => ({ kind: 'show_notification', id, title, body, tag, href }))
      if (answer?.problem) throw new Error(answer.problem)
      return answer !== undefined
    },
    openRun: (handlerRunId) => post({ kind: 'open_run', handlerRunId }),
    close: () => channel.close(),
  }
}
