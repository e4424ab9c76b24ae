import type { Route } from './client/router.svelte.ts'
import { sectionOf } from './features/settings/sections.ts'
import { tabOf } from './features/workflows/tabs.ts'

/** A screen and the part of it that its address names. If only the screen asked for the part, it would come a round trip later. */
function withPart<T>(screen: Promise<T>, part: Promise<unknown>): Promise<T> {
  // The screen asks for it again, and says what is wrong.
  part.catch(() => undefined)
  return screen
}

/** Every address of the interface. Each screen is a chunk of its own, loaded when it is first gone to. */
export const routes: readonly Route[] = [
  { path: '/', title: 'Dashboard', load: () => import('./features/dashboard/dashboard-screen.svelte') },
  { path: '/workflows', title: 'Workflows', load: () => import('./features/workflows/workflows-screen.svelte') },
  { path: '/workflows/new', title: 'New workflow', load: () => import('./features/editor/new-workflow-screen.svelte') },
  {
    path: '/workflows/:id/:tab?',
    title: 'Workflow',
    load: ({ tab }) => withPart(import('./features/workflows/workflow-screen.svelte'), tabOf(tab).load()),
  },
  { path: '/inbox', title: 'Inbox', load: () => import('./features/inbox/inbox-screen.svelte') },
  { path: '/runs/:id', title: 'Run', load: () => import('./features/runs/run-screen.svelte') },
  { path: '/sessions', title: 'Sessions', load: () => import('./features/sessions/sessions-screen.svelte') },
  { path: '/sessions/new', title: 'New session', load: () => import('./features/sessions/new-session-screen.svelte') },
  { path: '/sessions/:id', title: 'Session', load: () => import('./features/sessions/session-screen.svelte') },
  { path: '/import', title: 'Import a workflow', load: () => import('./features/sharing/import-screen.svelte') },
  { path: '/sql', title: 'SQL', load: () => import('./features/sql/sql-screen.svelte') },
  {
    path: '/settings/:section?',
    title: 'Settings',
    load: ({ section }) => withPart(import('./features/settings/settings-screen.svelte'), sectionOf(section).load()),
  },
  { path: '/gallery', title: 'Gallery', load: () => import('./features/gallery/gallery-screen.svelte') },
  { path: '/demo', title: 'Live demo', load: () => import('./features/demo/demo-screen.svelte') },
]
