import type { Phase } from '#engine/model/handler-run.ts'

export interface PhaseLook {
  word: string
  meaning: string
  /** A phase in which the script runs has a colour; the steps between are only moments. */
  colour: 'read' | 'change' | 'emit' | 'none'
}

export const phaseLooks: Record<Phase, PhaseLook> = {
  pending: { word: 'Waiting', meaning: 'It was about to start.', colour: 'none' },
  executing: { word: 'Execute', meaning: 'The producer reads the outside world and publishes events.', colour: 'read' },
  preparing: { word: 'Prepare', meaning: 'Reads, chooses events and says what is to be done.', colour: 'read' },
  prepared: { word: 'Prepared', meaning: 'What is to be done is saved, and the events are reserved.', colour: 'none' },
  mutating: { word: 'Mutate', meaning: 'The one change of the outside world.', colour: 'change' },
  mutated: { word: 'Mutated', meaning: 'The outcome is saved: from here on there is no way back.', colour: 'none' },
  emitting: { word: 'Next', meaning: 'Publishes what follows from it.', colour: 'emit' },
  committed: { word: 'Committed', meaning: 'Everything is saved.', colour: 'none' },
}
