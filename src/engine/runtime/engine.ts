import { OwnershipLost } from '../model/errors.ts'
import type { Workflow, WorkflowConfig } from '../model/workflow.ts'
import { createConfigCache } from '../script/config.ts'
import { createCommands } from './commands.ts'
import { createAttempts, createExecuteHandler } from './execute-handler.ts'
import type { Notice } from './notices.ts'
import type { EngineOptions, EnginePorts } from './ports.ts'
import { defaultOptions } from './ports.ts'
import { createPreferenceCommands, preferencesOf } from './preferences.ts'
import { createQueries } from './queries.ts'
import type { RecoveryReport } from './recovery.ts'
import { recover } from './recovery.ts'
import { createRetention } from './retention/retention.ts'
import { createRetentionCommands } from './retention/retention-commands.ts'
import { createRunLoop } from './run-loop.ts'
import { createScheduler } from './scheduler.ts'
import { SchedulerState } from './scheduler-state.ts'
import { createScriptLoader } from './script-loader.ts'
import { createEventStream } from './sessions/event-stream.ts'
import { createSessionCommands } from './sessions/session-commands.ts'
import { createSessionQueries } from './sessions/session-queries.ts'
import { createSessionViews } from './sessions/session-views.ts'
import type { Group } from './transitions/group.ts'
import { createGroup } from './transitions/group.ts'
import { createTransitions } from './transitions/index.ts'
import { createUpkeepCommands } from './upkeep-commands.ts'

/** Commits of several transitions that were rolled back, each of which was then made by itself. */
export interface UndoneCommits {
  count: number
  lastReason: string
}

export type EngineState = 'opened' | 'running' | 'stopped' | 'failed'

/** Puts the rooms together. Everything that differs between a tab, a test and the crash lab comes in through the ports. */
export const createEngine = (ports: EnginePorts, overrides: Partial<EngineOptions> = {}) => {
  const options = { ...defaultOptions, ...overrides }
  const { store, durability } = ports
  let state: EngineState = 'opened'
  let fatal: unknown = null
  let lastRecovery: RecoveryReport | null = null
  let undone: UndoneCommits | null = null

  const configs = createConfigCache()
  const configOf = (workflow: Workflow): WorkflowConfig =>
    configs.get(workflow.id, workflow.activeVersion, workflow.handlerConfig)
  const flags = new SchedulerState((workflowId) => {
    const workflow = store.workflows.get(workflowId)
    return workflow === undefined ? undefined : configOf(workflow)
  })
  const views = createSessionViews(store)
  const stream = createEventStream(store, durability)
  const group = createGroup(store)
  /** Whoever has no part in what is chosen next hears of it when it is certain. */
  const tell = (notice: Notice): void => {
    if (notice.kind === 'session_changed') {
      views.changed(notice.sessionId, notice.agentId)
      stream.changed(notice.sessionId)
    } else if (notice.kind === 'cost_added') views.costChanged(notice.workflowId)
    else scheduler.touch(notice.workflowId)
  }
  const transitions = createTransitions({
    ...ports,
    notify: (notice) => {
      if (notice.kind !== 'session_changed' && notice.kind !== 'cost_added') {
        group.unlessRolledBack(() => flags.remember(notice.workflowId))
        flags.apply(notice)
      }
      group.afterCommit(() => tell(notice))
    },
  })
  const defaults = { maxParallelWorkflows: options.maxParallelWorkflows }
  let preferences = preferencesOf(store.settings, defaults)
  const scripts = createScriptLoader(ports)
  const groupedPorts = afterCommits(ports, group)
  const attempts = createAttempts(groupedPorts, options, transitions, scripts)
  const executeHandler = createExecuteHandler(attempts)
  const mayStart = (): boolean => state === 'running' && durability.isAccepting()
  const retention = createRetention({ ports, transitions, mayGoOn: mayStart })
  const scheduler = createScheduler({
    ports,
    flags,
    upkeep: retention,
    onSetBack: transitions.followClock,
    maxParallelWorkflows: () => preferences.maxParallelWorkflows,
    runLoop: createRunLoop({
      ports: groupedPorts,
      transitions,
      flags,
      configOf,
      attempts,
      group,
      mayStart,
      onUndone: (thrown) => {
        undone = { count: (undone?.count ?? 0) + 1, lastReason: String(thrown) }
      },
    }),
    onFatal: (thrown) => {
      // Losing the data to another tab is no failure: the other one goes on from what is on disk.
      state = thrown instanceof OwnershipLost ? 'stopped' : 'failed'
      fatal = thrown
    },
  })

  return {
    /** Recovery first, then the scheduler. */
    start: (): RecoveryReport => {
      lastRecovery = recover({ ports, transitions, flags, configOf })
      state = 'running'
      scheduler.start()
      return lastRecovery
    },
    /** After `stop`: goes on as if nothing had been. */
    resume: (): void => {
      state = 'running'
      scheduler.start()
    },
    whenQuiet: scheduler.whenQuiet,
    stop: (): void => {
      state = 'stopped'
      scheduler.stop()
    },
    look: scheduler.look,
    info: () => ({
      state,
      fatal,
      lastRecovery,
      undone,
      nextWakeAt: scheduler.nextWakeAt(),
      lastLookAt: scheduler.lastLookAt(),
    }),
    /** No handler is active, nothing is runnable now, and everything is durable. */
    idle: async (): Promise<void> => {
      await scheduler.whenQuiet()
      await durability.barrier()
    },
    /** For tests and the crash lab, which look at one step at a time. */
    internals: { transitions, executeHandler, flags, scheduler, checkInvariants: store.checkInvariants },
    ...createCommands({ ports, transitions, scheduler, flags, configOf }),
    ...createUpkeepCommands({ ports, transitions, scheduler, retention }),
    ...createPreferenceCommands({
      ports,
      transitions,
      defaults,
      onChanged: (changed) => {
        preferences = changed
        scheduler.look()
      },
    }),
    ...createQueries(store, scheduler),
    ...createSessionCommands({ ports, transitions, scheduler }),
    ...createSessionQueries(ports, views, stream),
    ...createRetentionCommands({ ports, transitions, scheduler, retention }),
  }
}

/** A crash point names a state on the disk, and what nobody has committed cannot be flushed. */
const afterCommits = (ports: EnginePorts, { afterCommit }: Group): EnginePorts => {
  const { crash, durability } = ports
  return {
    ...ports,
    crash: { reach: (point) => afterCommit(() => crash.reach(point)) },
    durability: {
      barrier: () => durability.barrier(),
      flushSoon: () => afterCommit(() => durability.flushSoon()),
      isAccepting: () => durability.isAccepting(),
    },
  }
}

export type Engine = ReturnType<typeof createEngine>
