/* global Worker */
import { initBackend } from 'absurd-sql/dist/indexeddb-main-thread.js'

/** Each by its own name: the bundler has to see the address. @type {Record<string, (name: string) => Worker>} */
const kinds = {
  Holdfast: (name) => new Worker(new URL('./holdfast.worker.ts', import.meta.url), { type: 'module', name }),
  'absurd-sql': (name) => {
    const worker = new Worker(new URL('./absurd.worker.mjs', import.meta.url), { type: 'module', name })
    initBackend(worker)
    return worker
  },
  'wa-sqlite': (name) => new Worker(new URL('./wa-sqlite.worker.mjs', import.meta.url), { type: 'module', name }),
  official: (name) => new Worker(new URL('./official.worker.mjs', import.meta.url), { type: 'module', name }),
  PGlite: (name) => new Worker(new URL('./pglite.worker.mjs', import.meta.url), { type: 'module', name }),
}

const workers = new Map()
let asked = 0

const ask = (worker, method, args) =>
  new Promise((resolve, reject) => {
    const id = `question ${(asked += 1)}`
    const onMessage = ({ data }) => {
      if (data?.id !== id) return
      worker.removeEventListener('message', onMessage)
      if (data.error === undefined) resolve(data.value)
      else reject(new Error(data.error))
    }
    worker.addEventListener('message', onMessage)
    worker.addEventListener('error', ({ message }) => reject(new Error(message)), { once: true })
    worker.postMessage({ store: true, id, method, args })
  })

/** What the measuring program asks for: a store by name, which begins with the name of its kind. */
globalThis.askStore = (store, method, ...args) => {
  let worker = workers.get(store)
  if (worker === undefined) {
    const kind = Object.keys(kinds).find((each) => store.startsWith(each))
    worker = kinds[kind](store)
    workers.set(store, worker)
  }
  return ask(worker, method, args)
}
globalThis.endStore = (store) => {
  workers.get(store)?.terminate()
  workers.delete(store)
}
