import Ban from '@lucide/svelte/icons/ban'
import CircleCheck from '@lucide/svelte/icons/circle-check'
import CircleDashed from '@lucide/svelte/icons/circle-dashed'
import CirclePause from '@lucide/svelte/icons/circle-pause'
import CircleX from '@lucide/svelte/icons/circle-x'
import Hand from '@lucide/svelte/icons/hand'
import LoaderCircle from '@lucide/svelte/icons/loader-circle'
import SkipForward from '@lucide/svelte/icons/skip-forward'
import type { AgentState, SessionState, SessionStrategy } from '#engine/model/session.ts'
import type { Look } from '../kit/look.ts'

export const sessionLooks: Record<SessionState, Look> = {
  created: { tone: 'quiet', icon: CircleDashed, word: 'Not started', meaning: 'It waits for you to start it.' },
  running: { tone: 'busy', icon: LoaderCircle, word: 'Running', meaning: 'Its agents are at work.', spins: true },
  paused: { tone: 'quiet', icon: CirclePause, word: 'Paused', meaning: 'Its agents stop at the next phase boundary.' },
  completed: { tone: 'good', icon: CircleCheck, word: 'Completed', meaning: 'All agents are done.' },
  failed: { tone: 'bad', icon: CircleX, word: 'Failed', meaning: 'An agent failed and the session with it.' },
  cancelled: { tone: 'quiet', icon: Ban, word: 'Cancelled', meaning: 'It was cancelled.' },
}

export const agentLooks: Record<AgentState, Look> = {
  pending: { tone: 'quiet', icon: CircleDashed, word: 'Waiting', meaning: 'It waits for its turn.' },
  running: { tone: 'busy', icon: LoaderCircle, word: 'Running', meaning: 'It is at work.', spins: true },
  paused: { tone: 'quiet', icon: CirclePause, word: 'Paused', meaning: 'It stopped at the end of its phase.' },
  blocked: { tone: 'warn', icon: Hand, word: 'Needs you', meaning: 'Something only you can settle: see the inbox.' },
  completed: { tone: 'good', icon: CircleCheck, word: 'Completed', meaning: 'It did its part.' },
  failed: { tone: 'bad', icon: CircleX, word: 'Failed', meaning: 'It could not do its part.' },
  cancelled: { tone: 'quiet', icon: Ban, word: 'Cancelled', meaning: 'It was cancelled with its session.' },
  skipped: { tone: 'quiet', icon: SkipForward, word: 'Skipped', meaning: 'An agent it depends on failed.' },
}

export const strategyWords: Record<SessionStrategy, { word: string; meaning: string }> = {
  parallel: { word: 'Parallel', meaning: 'All agents at once.' },
  sequential: { word: 'Sequential', meaning: 'One after the other, in this order.' },
  adaptive: { word: 'Adaptive', meaning: 'Each agent as soon as those it depends on are done.' },
  pipeline: { word: 'Pipeline', meaning: 'Stage by stage; each gets what the stage before found.' },
}
