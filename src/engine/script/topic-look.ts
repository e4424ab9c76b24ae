import type { JsonText } from '../model/json.ts'
import type { TopicLook } from '../ports/sandbox.ts'

/** What a script is told that takes this look. */
export const textOfLook = ({ limit, events }: Pick<TopicLook, 'limit' | 'events'>): JsonText => {
  const shown = events.slice(0, limit).map(({ text }) => text)
  return `[${shown.join(',')}]`
}
