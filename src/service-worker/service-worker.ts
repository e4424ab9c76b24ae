import { answerFrom, dropOldCaches, fillCache, type Release } from './caches.ts'

declare const self: ServiceWorkerGlobalScope

/** The build puts the list of files here: see scripts/vite-plugins.mjs. */
declare const __RELEASE__: Release

const release = __RELEASE__
const base = self.registration.scope

self.addEventListener('install', (event) => event.waitUntil(fillCache(caches, release, base)))

self.addEventListener('activate', (event) =>
  event.waitUntil(dropOldCaches(caches, release).then(() => self.clients.claim())),
)

self.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET' || !request.url.startsWith(base)) return
  event.respondWith(answerFrom(caches, release, request, base).then((known) => known ?? fetch(request)))
})

/** Only when the person said so: a new version never takes over by itself. */
self.addEventListener('message', ({ data }: ExtendableMessageEvent) => {
  if (data === 'take over') void self.skipWaiting()
})

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const href = (event.notification.data as { href?: string } | null)?.href ?? '#/inbox'
  event.waitUntil(show(new URL(href, base).href))
})

async function show(url: string): Promise<void> {
  const [open] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (!open) {
    await self.clients.openWindow(url)
    return
  }
  // Some systems keep a window from coming to the front by itself: it goes there all the same.
  await open.focus().catch(() => undefined)
  open.postMessage({ go: new URL(url).hash })
}
