import type { WorkflowConfig } from '../model/workflow.ts'
import type { WorkflowNotice } from './notices.ts'

/**
 * The two flags that change too often to be written down: a consumer is dirty when there may be events it has not looked at, a
 * producer is queued when it was told to run. Both are rebuilt from the rows on every start.
 */
export class SchedulerState {
  readonly #dirtyConsumers = new Map<string, Set<string>>()
  readonly #queuedProducers = new Map<string, Set<string>>()

  readonly #configOf: (workflowId: string) => WorkflowConfig | undefined

  constructor(configOf: (workflowId: string) => WorkflowConfig | undefined) {
    this.#configOf = configOf
  }

  isDirty(workflowId: string, consumer: string): boolean {
    return this.#dirtyConsumers.get(workflowId)?.has(consumer) ?? false
  }

  isQueued(workflowId: string, producer: string): boolean {
    return this.#queuedProducers.get(workflowId)?.has(producer) ?? false
  }

  markDirty(workflowId: string, consumer: string): void {
    flagsOf(this.#dirtyConsumers, workflowId).add(consumer)
  }

  /** Several triggers while the workflow is busy are one: a set does not count. */
  queue(workflowId: string, producer: string): void {
    flagsOf(this.#queuedProducers, workflowId).add(producer)
  }

  eventsArrived(workflowId: string, topics: readonly string[]): void {
    const consumers = this.#configOf(workflowId)?.consumers ?? {}
    for (const [name, { subscribe }] of Object.entries(consumers)) {
      if (subscribe.some((topic) => topics.includes(topic))) this.markDirty(workflowId, name)
    }
  }

  /** Workflows with any flag set: those that may have something to do right now. */
  workflowIds(): Set<string> {
    return new Set([...this.#dirtyConsumers.keys(), ...this.#queuedProducers.keys()])
  }

  apply(notice: WorkflowNotice): void {
    switch (notice.kind) {
      case 'deployed':
        for (const consumer of notice.consumers) this.markDirty(notice.workflowId, consumer)
        return
      case 'deleted':
        this.clearWorkflow(notice.workflowId)
        return
      case 'resumed':
        return
      case 'nudged':
        for (const consumer of Object.keys(this.#configOf(notice.workflowId)?.consumers ?? {})) {
          this.markDirty(notice.workflowId, consumer)
        }
        return
      case 'events_pending':
        this.eventsArrived(notice.workflowId, notice.topics)
        return
      case 'prepare_begun':
        unflag(this.#dirtyConsumers, notice.workflowId, notice.handlerName)
        return
      case 'consumer_committed':
        // With reservations there may be more where they came from; without, nothing is to be done until something new comes.
        if (notice.hadReservations) this.markDirty(notice.workflowId, notice.handlerName)
        return
      case 'consumer_stopped':
        this.markDirty(notice.workflowId, notice.handlerName)
        return
      case 'producer_committed':
        unflag(this.#queuedProducers, notice.workflowId, notice.handlerName)
    }
  }

  /** How to put back the flags of this workflow as they are now. */
  remember(workflowId: string): () => void {
    const dirty = copyOf(this.#dirtyConsumers.get(workflowId))
    const queued = copyOf(this.#queuedProducers.get(workflowId))
    return () => {
      this.clearWorkflow(workflowId)
      if (dirty !== undefined) this.#dirtyConsumers.set(workflowId, dirty)
      if (queued !== undefined) this.#queuedProducers.set(workflowId, queued)
    }
  }

  clearWorkflow(workflowId: string): void {
    this.#dirtyConsumers.delete(workflowId)
    this.#queuedProducers.delete(workflowId)
  }
}

const copyOf = (names: Set<string> | undefined): Set<string> | undefined => names && new Set(names)

const flagsOf = (flags: Map<string, Set<string>>, workflowId: string): Set<string> => {
  let names = flags.get(workflowId)
  if (names === undefined) flags.set(workflowId, (names = new Set()))
  return names
}

const unflag = (flags: Map<string, Set<string>>, workflowId: string, name: string): void => {
  const names = flags.get(workflowId)
  names?.delete(name)
  if (names?.size === 0) flags.delete(workflowId)
}
