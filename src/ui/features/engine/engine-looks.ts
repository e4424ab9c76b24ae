import type { EngineRole, EngineState } from '#worker/api.ts'
import type { Tone } from '../../kit/status-badge.svelte'

/** A new state does not compile until it has a face. */
export const engineLooks: Record<EngineState, { tone: Tone; word: string; meaning: string }> = {
  running: { tone: 'good', word: 'Running', meaning: 'The engine is running.' },
  storage_full: {
    tone: 'warn',
    word: 'Storage full',
    meaning: 'The engine waits until there is room to store its work.',
  },
  storage_lost: {
    tone: 'warn',
    word: 'Storage lost',
    meaning: 'The browser closed the storage. The engine waits until it can save again.',
  },
  failed: { tone: 'bad', word: 'Failed', meaning: 'The engine met an error of its own and has stopped.' },
  stopped: { tone: 'quiet', word: 'Stopped', meaning: 'The engine is stopped.' },
}

export const roleWords: Record<EngineRole, string> = {
  leader: 'Leader, this tab runs it',
  follower: 'Follower, another tab runs it',
}
