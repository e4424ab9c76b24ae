import Check from '@lucide/svelte/icons/check'
import CircleHelp from '@lucide/svelte/icons/circle-question-mark'
import CircleX from '@lucide/svelte/icons/circle-x'
import KeyRound from '@lucide/svelte/icons/key-round'
import Lock from '@lucide/svelte/icons/lock'
import RotateCw from '@lucide/svelte/icons/rotate-cw'
import SearchCheck from '@lucide/svelte/icons/search-check'
import ShieldCheck from '@lucide/svelte/icons/shield-check'
import SkipForward from '@lucide/svelte/icons/skip-forward'
import TimerOff from '@lucide/svelte/icons/timer-off'
import Undo2 from '@lucide/svelte/icons/undo-2'
import type { EscalationAction, EscalationKind } from '#engine/model/escalation.ts'
import type { Icon, Look } from '../kit/look.ts'

export interface KindLook extends Look {
  /** What is asked, in one sentence. */
  question: string
}

export const escalationLooks: Record<EscalationKind, KindLook> = {
  indeterminate_mutation: {
    tone: 'bad',
    icon: CircleHelp,
    word: 'Did it happen?',
    meaning: 'A change was sent and nobody knows whether it happened.',
    question: 'Look where it would have happened, then say which it was. Nothing is sent again by itself.',
  },
  logic_failure: {
    tone: 'bad',
    icon: CircleX,
    word: 'Script failed',
    meaning: 'The script itself is at fault.',
    question: 'Correct the script and try again, or leave out the events it cannot cope with.',
  },
  retries_exhausted: {
    tone: 'warn',
    icon: TimerOff,
    word: 'Gave up trying',
    meaning: 'It failed every time it was tried.',
    question: 'Try again when you think that it works now, or leave out these events.',
  },
  auth: {
    tone: 'warn',
    icon: KeyRound,
    word: 'Signed out',
    meaning: 'The other side wants you to sign in again.',
    question: 'Put the right key into the settings, then go on.',
  },
  permission: {
    tone: 'warn',
    icon: Lock,
    word: 'Not allowed',
    meaning: 'It needs something that was not granted to it.',
    question: 'Grant it if you want this workflow to be able to do that from now on.',
  },
  internal_failure: {
    tone: 'bad',
    icon: CircleX,
    word: 'Holdfast failed',
    meaning: 'Holdfast itself is at fault.',
    question: 'Nothing was lost. Try again, and please report it if it happens again.',
  },
}

export interface ActionLook {
  label: string
  icon: Icon
  /** What happens when it is chosen. */
  meaning: string
}

const actions: Record<EscalationAction, ActionLook> = {
  happened: {
    label: 'It happened',
    icon: Check,
    meaning: 'It counts as done, and the workflow goes on after it. You can paste what came back.',
  },
  did_not_happen: {
    label: 'It didn’t happen',
    icon: Undo2,
    meaning: 'It counts as not done. The step starts again from the beginning and sends it anew.',
  },
  skip: { label: 'Skip these events', icon: SkipForward, meaning: 'They end as skipped and are not looked at again.' },
  retry: {
    label: 'Retry',
    icon: RotateCw,
    meaning: 'The step is tried again now, with the newest version of the script.',
  },
  grant: {
    label: 'Grant',
    icon: ShieldCheck,
    meaning: 'The workflow may do it from now on, and the step is tried again.',
  },
  reconnect: { label: 'I have reconnected', icon: KeyRound, meaning: 'The step is tried again now.' },
  check_again: {
    label: 'Check again',
    icon: SearchCheck,
    meaning: 'Asks the other side once more whether it happened.',
  },
}

const forKind: Partial<Record<EscalationKind, Partial<Record<EscalationAction, Partial<ActionLook>>>>> = {
  indeterminate_mutation: {
    skip: {
      label: 'Skip it',
      meaning: 'Whether it happened stays open. The workflow goes on and its events end as skipped.',
    },
  },
  retries_exhausted: { retry: { label: 'Retry now' } },
  permission: {
    retry: { label: 'Retry without granting', meaning: 'Tries again as it is: after a new version, say.' },
  },
}

export const actionLook = (kind: EscalationKind, action: EscalationAction): ActionLook => ({
  ...actions[action],
  ...forKind[kind]?.[action],
})
