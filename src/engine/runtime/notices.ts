/** What a committed transition means to those who keep something in memory. Lost in a crash, rebuilt from the rows. */
export type Notice =
  | { kind: 'deployed'; workflowId: string; consumers: readonly string[] }
  | { kind: 'deleted'; workflowId: string }
  | { kind: 'events_pending'; workflowId: string; topics: readonly string[] }
  | { kind: 'prepare_begun'; workflowId: string; handlerName: string }
  | { kind: 'consumer_committed'; workflowId: string; handlerName: string; hadReservations: boolean }
  | { kind: 'consumer_stopped'; workflowId: string; handlerName: string }
  | { kind: 'producer_committed'; workflowId: string; handlerName: string }
