import type { SessionEvent, SessionEventType } from '#engine/model/session.ts'
import type { Tone } from '../../kit/look.ts'

interface EventLook {
  tone: Tone
  /** What happened; about an agent, the words follow its name. */
  words: string
}

export const eventLooks: Record<SessionEventType, EventLook> = {
  session_created: { tone: 'quiet', words: 'The session was created' },
  session_started: { tone: 'busy', words: 'The session started' },
  session_paused: { tone: 'quiet', words: 'The session was paused' },
  session_resumed: { tone: 'busy', words: 'The session goes on' },
  session_completed: { tone: 'good', words: 'The session is complete' },
  session_failed: { tone: 'bad', words: 'The session failed' },
  session_cancelled: { tone: 'quiet', words: 'The session was cancelled' },
  session_restored: { tone: 'quiet', words: 'The session was brought back from its archive' },
  agent_added: { tone: 'quiet', words: 'was added' },
  agent_started: { tone: 'busy', words: 'started' },
  agent_paused: { tone: 'quiet', words: 'paused' },
  agent_resumed: { tone: 'busy', words: 'goes on' },
  agent_blocked: { tone: 'warn', words: 'needs you' },
  agent_unblocked: { tone: 'busy', words: 'goes on after your answer' },
  agent_completed: { tone: 'good', words: 'is done' },
  agent_failed: { tone: 'bad', words: 'failed' },
  agent_cancelled: { tone: 'quiet', words: 'was cancelled' },
  agent_skipped: { tone: 'quiet', words: 'was skipped' },
  agent_retried: { tone: 'busy', words: 'is tried again' },
  agent_output: { tone: 'good', words: 'handed over its result' },
  context_set: { tone: 'quiet', words: 'wrote into the shared context' },
  message_sent: { tone: 'quiet', words: 'sent a message' },
  message_read: { tone: 'quiet', words: 'read a message' },
}

export function eventSentence({ eventType, agentId }: SessionEvent, keyOf: (agentId: string) => string): string {
  const { words } = eventLooks[eventType]
  if (agentId === null || eventType.startsWith('session_')) return words
  return `${keyOf(agentId)} ${words}`
}
