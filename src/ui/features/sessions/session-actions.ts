import Archive from '@lucide/svelte/icons/archive'
import Copy from '@lucide/svelte/icons/copy'
import Pause from '@lucide/svelte/icons/pause'
import Play from '@lucide/svelte/icons/play'
import Trash2 from '@lucide/svelte/icons/trash'
import X from '@lucide/svelte/icons/x'
import type { SessionState } from '#engine/model/session.ts'
import type { Icon } from '../../kit/look.ts'

export type SessionAction = 'start' | 'pause' | 'resume' | 'cancel' | 'clone' | 'archive' | 'delete'

export const actionLooks: Record<SessionAction, { label: string; icon: Icon; done: string }> = {
  start: { label: 'Start', icon: Play, done: 'The session has started' },
  pause: { label: 'Pause', icon: Pause, done: 'Its agents stop at the end of their phase' },
  resume: { label: 'Resume', icon: Play, done: 'The session goes on' },
  cancel: { label: 'Cancel', icon: X, done: 'The session is cancelled' },
  clone: { label: 'Clone', icon: Copy, done: 'A copy was made: start it when you like' },
  archive: { label: 'Archive', icon: Archive, done: 'Put away: find it under Settings, History' },
  delete: { label: 'Delete', icon: Trash2, done: 'The session is deleted' },
}

/** What can be done in each state; the first one is what one most likely wants. */
export const actionsOf: Record<SessionState, readonly SessionAction[]> = {
  created: ['start', 'cancel', 'clone'],
  running: ['pause', 'cancel', 'clone'],
  paused: ['resume', 'cancel', 'clone'],
  completed: ['clone', 'archive', 'delete'],
  failed: ['clone', 'archive', 'delete'],
  cancelled: ['clone', 'archive', 'delete'],
}
