import type { Component } from 'svelte'
import type { WorkflowDetail } from '#worker/api.ts'

type TabComponent = Component<{ workflow: WorkflowDetail }>

export type TabName = 'overview' | 'graph' | 'runs' | 'events' | 'script' | 'settings'

export interface Tab {
  name: TabName
  label: string
  /** An own chunk each. */
  load: () => Promise<{ default: TabComponent }>
}

const overview: Tab = { name: 'overview', label: 'Overview', load: () => import('./overview-tab.svelte') }

/** The first one is shown when the address names none. */
export const tabs: readonly Tab[] = [
  overview,
  { name: 'graph', label: 'Graph', load: () => import('./graph-tab.svelte') },
  { name: 'runs', label: 'Runs', load: () => import('./runs-tab.svelte') },
  { name: 'events', label: 'Events', load: () => import('./events-tab.svelte') },
  { name: 'script', label: 'Script', load: () => import('../editor/script-tab.svelte') },
  { name: 'settings', label: 'Settings', load: () => import('./settings-tab.svelte') },
]

export const tabOf = (name: string | undefined): Tab => tabs.find((tab) => tab.name === name) ?? overview
