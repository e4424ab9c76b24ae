import type { SandboxAnswer, SandboxQuestion } from './questions.ts'

declare global {
  /** Asks the worker that stands where the engine's would. */
  var askSandbox: <Q extends SandboxQuestion>(question: Q) => Promise<SandboxAnswer<Q>>
}

const worker = new Worker(new URL('./sandbox-host.worker.ts', import.meta.url), { type: 'module' })
const waiting = new Map<number, (answer: never) => void>()
let asked = 0

worker.addEventListener('message', ({ data }: MessageEvent<{ id: number; answer: never }>) => {
  waiting.get(data.id)?.(data.answer)
  waiting.delete(data.id)
})

globalThis.askSandbox = (question) =>
  new Promise((resolve) => {
    asked += 1
    waiting.set(asked, resolve)
    worker.postMessage({ id: asked, question })
  })
