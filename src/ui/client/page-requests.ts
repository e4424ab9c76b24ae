import { pageChannel, type PageAnswer, type PageRequest } from '#engine/model/page-request.ts'

/** Does for the engine what only a page in front can do. */
export function servePageRequests(openRun: (handlerRunId: string) => void): () => void {
  const channel = new BroadcastChannel(pageChannel)
  channel.onmessage = ({ data }: MessageEvent<PageRequest | PageAnswer>) => {
    if (data.kind === 'answer' || !document.hasFocus()) return
    if (data.kind === 'open_run') openRun(data.handlerRunId)
    else void copy(channel, data.id, data.text)
  }
  return () => channel.close()
}

async function copy(channel: BroadcastChannel, id: string, text: string): Promise<void> {
  const problem = await navigator.clipboard.writeText(text).then(
    () => null,
    (reason: unknown) => String(reason),
  )
  channel.postMessage({ kind: 'answer', id, problem } satisfies PageAnswer)
}
