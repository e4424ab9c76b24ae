import type { WorkflowSituation } from '../machine/choose-next.ts'
import { isPastBoundary } from '../machine/phases.ts'
import type { ScriptRun } from '../model/script-run.ts'
import type { ConsumerConfig, Workflow, WorkflowConfig } from '../model/workflow.ts'
import type { StoreReads } from '../ports/store.ts'
import type { UsedUp } from './daily-limits.ts'
import type { SchedulerState } from './scheduler-state.ts'

/** Everything `chooseNext` wants to know of one workflow: a handful of look-ups, none of them per handler. */
export const readSituation = (
  store: StoreReads,
  flags: SchedulerState,
  workflow: Workflow,
  config: WorkflowConfig,
  openRun: ScriptRun | undefined,
  now: number,
  usedUp: readonly UsedUp[],
): WorkflowSituation => {
  const isDraining = isOfCancelledSession(store, workflow)
  const awaiting = store.handlerRuns.awaitingRetry(workflow.id)
  const held = new Set(awaiting.map(({ handlerName }) => handlerName))
  const isOverspent = usedUp.some(({ limit }) => limit === 'costPerDay')
  const mayMutate = !isOverspent && !usedUp.some(({ limit }) => limit === 'mutationsPerDay')
  const isAffordable = (consumer: ConsumerConfig | undefined): boolean =>
    consumer?.hasMutate === true ? mayMutate : !isOverspent
  const oldest = store.events.oldestPending(workflow.id)
  const wakeAts = new Map(store.handlerStates.forWorkflow(workflow.id).map((row) => [row.handlerName, row.wakeAt]))
  const schedules = new Map(
    store.producerSchedules.forWorkflow(workflow.id).map((row) => [row.producerName, row.nextRunAt]),
  )
  const producers = Object.keys(isDraining ? {} : config.producers).map((name) => {
    const nextRunAt = schedules.get(name) ?? Infinity
    return {
      name,
      isQueued: flags.isQueued(workflow.id, name),
      dueAt: nextRunAt <= now ? nextRunAt : null,
      isHeld: held.has(name) || isOverspent,
    }
  })
  // Only asked for where it can matter: it reads every attempt of the run.
  const mayProduce = producers.some(({ isQueued, dueAt }) => isQueued || dueAt !== null)
  return {
    parkedRunId: store.handlerRuns.activeOf(workflow.id)?.id ?? null,
    dueRetryIds: awaiting
      .filter((run) => run.retryAt !== null && run.retryAt <= now)
      // Past the boundary there is neither a mutation nor a cost to come.
      .filter((run) => isPastBoundary(run) || (!isDraining && isAffordable(config.consumers[run.handlerName])))
      .sort((a, b) => (a.retryAt ?? 0) - (b.retryAt ?? 0))
      .map(({ id }) => id),
    consumers: Object.entries(isDraining ? {} : config.consumers).map(([name, consumer]) => ({
      name,
      isDirty: flags.isDirty(workflow.id, name),
      isWakeDue: (wakeAts.get(name) ?? Infinity) <= now,
      isHeld: held.has(name) || !isAffordable(consumer),
      oldestEventId: oldestOf(consumer.subscribe, oldest),
    })),
    producers,
    openRun:
      openRun === undefined
        ? null
        : { trigger: openRun.trigger, producersRun: mayProduce ? store.handlerRuns.producersRunIn(openRun.id) : [] },
  }
}

/** Then only what is past the boundary is carried to its end. */
const isOfCancelledSession = (store: StoreReads, { sessionId }: Workflow): boolean =>
  sessionId !== null && store.sessions.get(sessionId)?.state === 'cancelled'

const oldestOf = (topics: readonly string[], oldestByTopic: ReadonlyMap<string, string>): string | null => {
  let oldest: string | null = null
  for (const topic of topics) {
    const id = oldestByTopic.get(topic)
    if (id !== undefined && (oldest === null || id < oldest)) oldest = id
  }
  return oldest
}
