import Ban from '@lucide/svelte/icons/ban'
import CircleCheck from '@lucide/svelte/icons/circle-check'
import CircleDashed from '@lucide/svelte/icons/circle-dashed'
import CirclePause from '@lucide/svelte/icons/circle-pause'
import CircleX from '@lucide/svelte/icons/circle-x'
import LoaderCircle from '@lucide/svelte/icons/loader-circle'
import type { SessionState } from '#engine/model/session.ts'
import type { Look } from '../kit/look.ts'

export const sessionLooks: Record<SessionState, Look> = {
  created: { tone: 'quiet', icon: CircleDashed, word: 'Not started', meaning: 'It waits for you to start it.' },
  running: { tone: 'busy', icon: LoaderCircle, word: 'Running', meaning: 'Its agents are at work.', spins: true },
  paused: { tone: 'quiet', icon: CirclePause, word: 'Paused', meaning: 'Its agents stop at the next phase boundary.' },
  completed: { tone: 'good', icon: CircleCheck, word: 'Completed', meaning: 'All agents are done.' },
  failed: { tone: 'bad', icon: CircleX, word: 'Failed', meaning: 'An agent failed and the session with it.' },
  cancelled: { tone: 'quiet', icon: Ban, word: 'Cancelled', meaning: 'It was cancelled.' },
}
