/** What a committed transition means to those who keep something in memory. Lost in a crash, rebuilt from the rows. */
export type WorkflowNotice =
  | { kind: 'deployed'; workflowId: string; consumers: readonly string[] }
  | { kind: 'deleted'; workflowId: string }
  | { kind: 'resumed'; workflowId: string }
  | { kind: 'events_pending'; workflowId: string; topics: readonly string[] }
  /** There is something new to look at that is not an event, such as a message to an agent. */
  | { kind: 'nudged'; workflowId: string }
  | { kind: 'prepare_begun'; workflowId: string; handlerName: string }
  | { kind: 'consumer_committed'; workflowId: string; handlerName: string; hadReservations: boolean }
  | { kind: 'consumer_stopped'; workflowId: string; handlerName: string }
  | { kind: 'producer_committed'; workflowId: string; handlerName: string }

export type Notice =
  | WorkflowNotice
  | { kind: 'cost_added'; workflowId: string }
  /** `agentId` is null when the session itself changed. */
  | { kind: 'session_changed'; sessionId: string; agentId: string | null }
