import type { JsonText } from './json.ts'

export const eventStatuses = ['pending', 'reserved', 'consumed', 'skipped'] as const
export type EventStatus = (typeof eventStatuses)[number]

export interface Event {
  id: string
  workflowId: string
  topic: string
  messageId: string
  title: string | null
  payload: JsonText
  status: EventStatus
  reservedByRunId: string | null
  /** The handler run that published it; null when published by hand. */
  createdByRunId: string | null
  /** Ids of the root events this one descends from; empty for a root (a producer's or a hand-published event). */
  causedBy: string[]
  createdAt: number
}

export interface EventDraft {
  topic: string
  messageId: string
  title: string | null
  payload: JsonText
}
