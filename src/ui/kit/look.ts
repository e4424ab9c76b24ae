import type { Component } from 'svelte'

/** An icon of lucide, imported by its own path: `import Play from '@lucide/svelte/icons/play'`. Its size and colour come from CSS. */
export type Icon = Component<Record<string, never>>

export const tones = ['good', 'busy', 'warn', 'bad', 'quiet'] as const
export type Tone = (typeof tones)[number]

/** The face of one member of a union. Looks are total Records: a new member does not compile until it has a face. */
export interface Look {
  tone: Tone
  icon: Icon
  word: string
  /** One sentence for the tooltip and for screen readers. */
  meaning: string
  /** Only where something is going on right now. */
  spins?: boolean
}
