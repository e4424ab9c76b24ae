import Ban from '@lucide/svelte/icons/ban'
import CalendarClock from '@lucide/svelte/icons/calendar-clock'
import CircleCheck from '@lucide/svelte/icons/circle-check'
import CircleDashed from '@lucide/svelte/icons/circle-dashed'
import CircleHelp from '@lucide/svelte/icons/circle-question-mark'
import CirclePause from '@lucide/svelte/icons/circle-pause'
import CircleX from '@lucide/svelte/icons/circle-x'
import Hand from '@lucide/svelte/icons/hand'
import LoaderCircle from '@lucide/svelte/icons/loader-circle'
import MousePointerClick from '@lucide/svelte/icons/mouse-pointer-click'
import NotebookPen from '@lucide/svelte/icons/notebook-pen'
import Send from '@lucide/svelte/icons/send'
import SkipForward from '@lucide/svelte/icons/skip-forward'
import TimerReset from '@lucide/svelte/icons/timer-reset'
import Unplug from '@lucide/svelte/icons/unplug'
import Users from '@lucide/svelte/icons/users'
import Zap from '@lucide/svelte/icons/zap'
import type { EventStatus } from '#engine/model/event.ts'
import type { RunStatus } from '#engine/model/handler-run.ts'
import type { MutationStatus } from '#engine/model/mutation.ts'
import type { RunResult, RunTrigger } from '#engine/model/script-run.ts'
import type { Icon, Look } from '../kit/look.ts'

const done = { tone: 'good', icon: CircleCheck } as const
const waiting = { tone: 'quiet', icon: CircleDashed } as const

/** Of one attempt at one handler. */
export const attemptLooks: Record<RunStatus, Look> = {
  active: { tone: 'busy', icon: LoaderCircle, word: 'Running', meaning: 'It is running now.', spins: true },
  'paused:transient': {
    tone: 'warn',
    icon: TimerReset,
    word: 'Will retry',
    meaning: 'It failed for now, on the network or at the other side, and is tried again.',
  },
  'paused:approval': {
    tone: 'warn',
    icon: Hand,
    word: 'Needs access',
    meaning: 'It needs something you have to allow.',
  },
  'paused:reconciliation': {
    tone: 'bad',
    icon: CircleHelp,
    word: 'Outcome unknown',
    meaning: 'Its mutation was sent and nobody knows whether it happened: only you can tell.',
  },
  'failed:logic': { tone: 'bad', icon: CircleX, word: 'Script failed', meaning: 'The script itself is at fault.' },
  'failed:internal': { tone: 'bad', icon: CircleX, word: 'Engine failed', meaning: 'Holdfast itself is at fault.' },
  crashed: {
    tone: 'warn',
    icon: Unplug,
    word: 'Crashed',
    meaning: 'The tab ended in the middle of it. A new attempt goes on from what was saved.',
  },
  cancelled: { tone: 'quiet', icon: Ban, word: 'Cancelled', meaning: 'It was cancelled.' },
  committed: { ...done, word: 'Committed', meaning: 'It is done and saved.' },
}

/** Of a whole run; `open` while it goes on. */
export type RunState = RunResult | 'open'
export const runLooks: Record<RunState, Look> = {
  open: { tone: 'busy', icon: LoaderCircle, word: 'Running', meaning: 'It is going on.', spins: true },
  completed: { ...done, word: 'Completed', meaning: 'Everything there was to do is done.' },
  failed: { tone: 'bad', icon: CircleX, word: 'Failed', meaning: 'A step failed and needs you.' },
  suspended: { tone: 'warn', icon: CirclePause, word: 'Suspended', meaning: 'It waits for a retry or for you.' },
  cancelled: { tone: 'quiet', icon: Ban, word: 'Cancelled', meaning: 'It was cancelled.' },
}

export const mutationLooks: Record<MutationStatus, Look> = {
  pending: { ...waiting, word: 'Not sent', meaning: 'It is written down and was not sent yet.' },
  in_flight: { tone: 'busy', icon: Send, word: 'In flight', meaning: 'It was sent and is not answered yet.' },
  applied: { ...done, word: 'Applied', meaning: 'It happened, once.' },
  failed: { tone: 'bad', icon: CircleX, word: 'Failed', meaning: 'It certainly did not happen.' },
  indeterminate: {
    tone: 'bad',
    icon: CircleHelp,
    word: 'Unknown',
    meaning: 'It was sent and nobody knows whether it happened.',
  },
}

/** Of a test run. */
export const recordedLook: Look = {
  tone: 'quiet',
  icon: NotebookPen,
  word: 'Only recorded',
  meaning: 'The real run would make it. This was a test.',
}

export const eventLooks: Record<EventStatus, Look> = {
  pending: { ...waiting, word: 'Pending', meaning: 'It waits for a consumer.' },
  reserved: { tone: 'busy', icon: LoaderCircle, word: 'Reserved', meaning: 'A run holds it.' },
  consumed: { ...done, word: 'Consumed', meaning: 'A run has dealt with it.' },
  skipped: { tone: 'quiet', icon: SkipForward, word: 'Skipped', meaning: 'It was passed over on purpose.' },
}

export const triggerWords: Record<RunTrigger, { icon: Icon; word: string }> = {
  schedule: { icon: CalendarClock, word: 'Schedule' },
  manual: { icon: MousePointerClick, word: 'By hand' },
  event: { icon: Zap, word: 'Event' },
  session: { icon: Users, word: 'Session' },
}
