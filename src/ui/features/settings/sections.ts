import type { Component } from 'svelte'

export type SectionName =
  'storage' | 'backup' | 'history' | 'connections' | 'notifications' | 'appearance' | 'engine' | 'about'

export interface Section {
  name: SectionName
  label: string
  /** An own chunk each. */
  load: () => Promise<{ default: Component }>
}

const storage: Section = { name: 'storage', label: 'Storage', load: () => import('./storage-section.svelte') }

/** The first one is shown when the address names none. */
export const sections: readonly Section[] = [
  storage,
  { name: 'backup', label: 'Backup', load: () => import('./backup-section.svelte') },
  { name: 'history', label: 'History', load: () => import('./history-section.svelte') },
  {
    name: 'connections',
    label: 'Connections and secrets',
    load: () => import('../connections/connections-and-secrets.svelte'),
  },
  { name: 'notifications', label: 'Notifications', load: () => import('../connections/notifications-section.svelte') },
  { name: 'appearance', label: 'Appearance', load: () => import('./appearance-section.svelte') },
  { name: 'engine', label: 'Engine', load: () => import('./engine-section.svelte') },
  { name: 'about', label: 'About', load: () => import('./about-section.svelte') },
]

export const sectionOf = (name: string | undefined): Section =>
  sections.find((section) => section.name === name) ?? storage
