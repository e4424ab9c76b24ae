import Blocks from '@lucide/svelte/icons/blocks'
import Database from '@lucide/svelte/icons/database'
import House from '@lucide/svelte/icons/house'
import Inbox from '@lucide/svelte/icons/inbox'
import Settings from '@lucide/svelte/icons/settings'
import Users from '@lucide/svelte/icons/users'
import Workflow from '@lucide/svelte/icons/workflow'
import type { Icon } from '../../kit/look.ts'

export interface Destination {
  href: string
  label: string
  icon: Icon
  keys: string
  /** The bar at the foot of a narrow screen has room for five. */
  isOnFoot: boolean
}

export const destinations: readonly Destination[] = [
  { href: '#/', label: 'Dashboard', icon: House, keys: 'g d', isOnFoot: true },
  { href: '#/workflows', label: 'Workflows', icon: Workflow, keys: 'g w', isOnFoot: true },
  { href: '#/sessions', label: 'Sessions', icon: Users, keys: 'g s', isOnFoot: true },
  { href: '#/inbox', label: 'Inbox', icon: Inbox, keys: 'g i', isOnFoot: true },
  { href: '#/gallery', label: 'Gallery', icon: Blocks, keys: 'g g', isOnFoot: false },
  { href: '#/sql', label: 'SQL', icon: Database, keys: 'g q', isOnFoot: false },
  { href: '#/settings', label: 'Settings', icon: Settings, keys: 'g t', isOnFoot: true },
]

/** `/workflows/1/runs` belongs to `#/workflows`. */
export function isAt(href: string, path: string): boolean {
  const base = href.slice(1)
  return base === '/' ? path === '/' : path === base || path.startsWith(`${base}/`)
}
