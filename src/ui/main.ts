import './kit/tokens.css'
import './kit/base.css'
import { mount } from 'svelte'
import App from './App.svelte'
import type { App as AppContext } from './app-context.ts'
import { ChangeFeed } from './client/change-feed.ts'
import { EngineClient } from './client/engine-client.ts'
import { LiveQuery } from './client/live-query.svelte.ts'
import { servePageRequests } from './client/page-requests.ts'
import { withSessionStream } from './client/session-stream.ts'
import { Router } from './client/router.svelte.ts'
import { watchWakeUps } from './client/wake-ups.ts'
import { idle } from './kit/idle.ts'
import { painted } from './kit/painted.ts'
import { exactTime } from './kit/time-words.ts'
import { routes } from './routes.ts'
import { Commands } from './state/commands.svelte.ts'
import { EngineStatus } from './state/engine-status.svelte.ts'
import { IncomingFiles } from './state/incoming-files.svelte.ts'
import { LiveDemo } from './state/live-demo.svelte.ts'
import { Theme } from './state/theme.svelte.ts'
import { Toasts } from './state/toasts.svelte.ts'
import { Updates } from './state/updates.svelte.ts'

const status = new EngineStatus()
const changes = new ChangeFeed()
const client = new EngineClient({
  onBroken: (reason) => status.break(reason),
  onRestarted: () => {
    status.recover()
    changes.tellAll()
  },
})
const { engine } = client
globalThis.holdfast = withSessionStream(engine)

const app: AppContext = {
  engine,
  client,
  changes,
  status,
  router: new Router(routes),
  toasts: new Toasts(),
  commands: new Commands(),
  theme: new Theme(),
  updates: new Updates(engine),
  demo: new LiveDemo(client),
  incoming: new IncomingFiles(),
  live: (tables, read) => new LiveQuery(changes, tables, () => read(engine)),
}
status.follow(engine, changes)
app.incoming.watch(app.router)
// A page that holds a lock is not frozen in the background; one held by the worker alone would not prevent it.
void navigator.locks.request(`holdfast:page:${crypto.randomUUID()}`, () => new Promise(() => undefined))
servePageRequests((handlerRunId) => {
  location.hash = `#/runs/${handlerRunId}`
})

watchWakeUps(globalThis, document, () => void engine.wake())

const { matched } = app.router
// On its way while the frame is drawn; the frame says so if it does not come.
void matched?.route.load(matched.params).catch(() => undefined)

const target = document.querySelector('#app')
if (target === null) throw new Error('index.html has no #app to mount into.')
mount(App, { target, props: { app } })

// The first words about a time take the browser as long as a small screen: not before the page stands, and not while it waits for them.
void painted()
  .then(() => idle())
  .then(() => exactTime(0))

// Not before the page stands: fetching a whole release for later must not slow down what is wanted now.
if (import.meta.env.PROD && 'serviceWorker' in navigator) {
  addEventListener('load', () => {
    void app.updates.watch(navigator.serviceWorker, './service-worker.js').catch(() => undefined)
    navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ go?: string } | null>) => {
      if (typeof data?.go === 'string') app.router.go(data.go)
    })
  })
}
