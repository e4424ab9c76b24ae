import type { HandlerRun } from '../../model/handler-run.ts'
import type { JsonText } from '../../model/json.ts'
import type { Transition } from './context.ts'
import { mustExist } from './context.ts'
import { recordSessionEvent } from './session-moves.ts'

/** What `next` said to its session, kept back until the attempt commits. */
export interface SessionWrites {
  context: ReadonlyMap<string, JsonText>
  messages: readonly OutgoingMessage[]
  /** Undefined when it handed in nothing. */
  output: JsonText | undefined
}

export interface OutgoingMessage {
  toAgentId: string
  toRole: string | null
  body: JsonText
}

export const noSessionWrites: SessionWrites = { context: new Map(), messages: [], output: undefined }

/** In the transaction in which the attempt commits: all of it, or none. */
export const applySessionWrites = (transition: Transition, run: HandlerRun, writes: SessionWrites): void => {
  const { tx, now, note } = transition
  const agent = mustExist(tx.sessionAgents.ofWorkflow(run.workflowId), `The agent of workflow ${run.workflowId}`)
  const { id, sessionId } = agent
  const read = tx.sessionMessages.markRead(id, run.id, now)
  if (read.length > 0) recordSessionEvent(transition, sessionId, 'message_read', id, { messageIds: read })
  for (const [key, value] of writes.context) {
    tx.sessionContext.set({ sessionId, key, value, updatedBy: id, updatedAt: now })
    recordSessionEvent(transition, sessionId, 'context_set', id, { key })
  }
  for (const { toAgentId, toRole, body } of writes.messages) {
    tx.sessionMessages.send({ sessionId, fromAgentId: id, toAgentId, toRole, body, sentAt: now })
    recordSessionEvent(transition, sessionId, 'message_sent', id, { to: toAgentId, role: toRole })
    const recipient = tx.sessionAgents.get(toAgentId)
    if (recipient?.state === 'running' && recipient.workflowId !== null) {
      note({ kind: 'nudged', workflowId: recipient.workflowId })
    }
  }
  if (writes.output !== undefined) {
    tx.sessionAgents.update(id, { output: writes.output })
    recordSessionEvent(transition, sessionId, 'agent_output', id, {})
  }
}
