import CircleCheck from '@lucide/svelte/icons/circle-check'
import CircleOff from '@lucide/svelte/icons/circle-off'
import CircleX from '@lucide/svelte/icons/circle-x'
import HardDrive from '@lucide/svelte/icons/hard-drive'
import LoaderCircle from '@lucide/svelte/icons/loader-circle'
import RadioTower from '@lucide/svelte/icons/radio-tower'
import type { EngineState } from '#worker/api.ts'
import type { Look } from '../kit/look.ts'

export const engineLooks: Record<EngineState, Look> = {
  running: { tone: 'good', icon: CircleCheck, word: 'Running', meaning: 'The engine is running in this tab.' },
  storage_full: {
    tone: 'warn',
    icon: HardDrive,
    word: 'Storage full',
    meaning: 'The engine waits until there is room to store its work.',
  },
  storage_lost: {
    tone: 'warn',
    icon: HardDrive,
    word: 'Storage lost',
    meaning: 'The browser closed the storage. The engine waits until it can save again.',
  },
  failed: {
    tone: 'bad',
    icon: CircleX,
    word: 'Failed',
    meaning: 'The engine met an error of its own and has stopped.',
  },
  stopped: { tone: 'quiet', icon: CircleOff, word: 'Stopped', meaning: 'The engine is stopped.' },
}

/** What the engine cannot say of itself, because it is not there yet or another tab runs it. */
export const connectionLooks: Record<'opening' | 'recovering' | 'following' | 'broken', Look> = {
  opening: {
    tone: 'busy',
    icon: LoaderCircle,
    word: 'Opening',
    meaning: 'The engine is opening its database.',
    spins: true,
  },
  recovering: {
    tone: 'busy',
    icon: LoaderCircle,
    word: 'Recovering',
    meaning: 'The engine was ended and is finding out where it was.',
    spins: true,
  },
  following: {
    tone: 'good',
    icon: RadioTower,
    word: 'Follower',
    meaning: 'Another tab runs the engine. Everything works here too, through that tab.',
  },
  broken: { tone: 'bad', icon: CircleX, word: 'Not running', meaning: 'The engine could not be started.' },
}
