import { pageChannel, type PageAnswer, type PageRequest } from '#engine/model/page-request.ts'

const ANSWER_WITHIN_MS = 5_000

export interface PageBridge {
  /** Rejects when no page that can do it answered in time. */
  writeClipboard(text: string): Promise<void>
  openRun(handlerRunId: string): void
  close(): void
}

/** What only a page can do: a worker has no clipboard and no window. Any tab that is in front may answer. */
export function createPageBridge(): PageBridge {
  const channel = new BroadcastChannel(pageChannel)
  const waiting = new Map<string, (answer: PageAnswer) => void>()
  channel.onmessage = ({ data }: MessageEvent<PageRequest | PageAnswer>) => {
    if (data.kind === 'answer') waiting.get(data.id)?.(data)
  }
  const post = (request: PageRequest): void => channel.postMessage(request)

  return {
    writeClipboard: (text) =>
      new Promise((resolve, reject) => {
        const id = crypto.randomUUID()
        const timer = setTimeout(() => {
          waiting.delete(id)
          reject(new Error('no window of the app is in front'))
        }, ANSWER_WITHIN_MS)
        waiting.set(id, ({ problem }) => {
          clearTimeout(timer)
          waiting.delete(id)
          if (problem === null) resolve()
          else reject(new Error(problem))
        })
        post({ kind: 'write_clipboard', id, text })
      }),
    openRun: (handlerRunId) => post({ kind: 'open_run', handlerRunId }),
    close: () => channel.close(),
  }
}
