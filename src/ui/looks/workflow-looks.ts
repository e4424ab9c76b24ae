import Archive from '@lucide/svelte/icons/archive'
import CirclePause from '@lucide/svelte/icons/circle-pause'
import Hand from '@lucide/svelte/icons/hand'
import LoaderCircle from '@lucide/svelte/icons/loader-circle'
import Moon from '@lucide/svelte/icons/moon'
import PencilLine from '@lucide/svelte/icons/pencil-line'
import TimerReset from '@lucide/svelte/icons/timer-reset'
import type { WorkflowState } from '#worker/api.ts'
import type { Look } from '../kit/look.ts'

export const workflowLooks: Record<WorkflowState, Look> = {
  draft: { tone: 'quiet', icon: PencilLine, word: 'Draft', meaning: 'Not started yet: activate it when it is ready.' },
  running: { tone: 'busy', icon: LoaderCircle, word: 'Running', meaning: 'A handler is running now.', spins: true },
  idle: { tone: 'good', icon: Moon, word: 'Idle', meaning: 'Nothing to do until the next wake.' },
  retrying: { tone: 'warn', icon: TimerReset, word: 'Retrying', meaning: 'A step failed for now and is tried again.' },
  needs_you: { tone: 'bad', icon: Hand, word: 'Needs you', meaning: 'It is stopped by something only you can settle.' },
  paused: { tone: 'quiet', icon: CirclePause, word: 'Paused', meaning: 'You paused it. Triggers are remembered.' },
  archived: {
    tone: 'quiet',
    icon: Archive,
    word: 'Archived',
    meaning: 'Put away: it does nothing until it is restored.',
  },
}
