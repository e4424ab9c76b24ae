import { pageChannel, type PageAnswer, type PageRequest } from '#engine/model/page-request.ts'

/** Does for the engine what only a page can do. */
export function servePageRequests(openRun: (handlerRunId: string) => void): () => void {
  const channel = new BroadcastChannel(pageChannel)
  const answer = async (id: string, work: Promise<unknown>): Promise<void> => {
    const problem = await work.then(
      () => null,
      (reason: unknown) => String(reason),
    )
    channel.postMessage({ kind: 'answer', id, problem } satisfies PageAnswer)
  }
  channel.onmessage = ({ data }: MessageEvent<PageRequest | PageAnswer>) => {
    if (data.kind === 'answer') return
    if (data.kind === 'show_notification') void showNotification(data, answer)
    else if (!document.hasFocus()) return
    else if (data.kind === 'open_run') openRun(data.handlerRunId)
    else void answer(data.id, navigator.clipboard.writeText(data.text))
  }
  return () => channel.close()
}

/** By the service worker, which is there for the click also when every tab is gone. Without one, nothing is answered. */
async function showNotification(
  { id, title, body, tag, href }: Extract<PageRequest, { kind: 'show_notification' }>,
  answer: (id: string, work: Promise<unknown>) => Promise<void>,
): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration()
  if (registration?.active) await answer(id, registration.showNotification(title, { body, tag, data: { href } }))
}
