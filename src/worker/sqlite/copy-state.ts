import type { Store } from '#engine/ports/store.ts'

/** What a handler remembers, put into another database than the one it comes from. */
export const copyState = (to: Store, workflowId: string, handlerName: string, state: string, now: number): void =>
  to.transaction((tx) => tx.handlerStates.setState(workflowId, handlerName, state, now))
