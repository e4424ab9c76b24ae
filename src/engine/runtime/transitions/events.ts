import type { Event, EventDraft } from '../../model/event.ts'
import type { Transition } from './context.ts'

export const publishEvents = (
  { tx, now, ids, note }: Transition,
  workflowId: string,
  drafts: readonly EventDraft[],
  origin: Pick<Event, 'createdByRunId' | 'causedBy'>,
): void => {
  const topics = new Set<string>()
  for (const draft of drafts) {
    const effect = tx.events.publish({ ...draft, ...origin, id: ids.next('evt'), workflowId, createdAt: now })
    if (effect !== 'ignored') topics.add(draft.topic)
  }
  if (topics.size > 0) note({ kind: 'events_pending', workflowId, topics: [...topics] })
}

/** Downstream events descend from the same roots as the events that were carried; a root is its own cause. */
export const inheritedCauses = (reserved: readonly Event[]): string[] => {
  const roots = new Set<string>()
  for (const event of reserved) {
    for (const cause of event.causedBy.length > 0 ? event.causedBy : [event.id]) roots.add(cause)
  }
  return [...roots]
}

/** What a run holds goes back to be picked up again. */
export const releaseEvents = ({ tx, note }: Transition, run: { id: string; workflowId: string }): void => {
  const topics = tx.events.releaseReserved(run.id)
  if (topics.length > 0) note({ kind: 'events_pending', workflowId: run.workflowId, topics })
}
