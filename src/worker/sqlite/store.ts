import type { Store, StoreWrites } from '#engine/ports/store.ts'
import { createArchiveRepository } from './archives.ts'
import { checkInvariants } from './check-invariants.ts'
import type { Database } from './database.ts'
import { createEscalationRepository } from './escalations.ts'
import { createEventRepository } from './events.ts'
import { createHandlerRunRepository } from './handler-runs.ts'
import { createHandlerStateRepository } from './handler-state.ts'
import { createLogRepository } from './logs.ts'
import { createMutationRepository } from './mutations.ts'
import { createProducerScheduleRepository } from './producer-schedules.ts'
import { createScriptRunRepository } from './script-runs.ts'
import { createScriptRepository } from './scripts.ts'
import { createSessionAgentRepository } from './session-agents.ts'
import { createSessionContextRepository } from './session-context.ts'
import { createSessionEventRepository } from './session-events.ts'
import { createSessionMessageRepository } from './session-messages.ts'
import { createSessionRepository } from './sessions.ts'
import { createSettingRepository } from './settings.ts'
import { createTopicRepository } from './topics.ts'
import { createWorkflowRepository } from './workflows.ts'

export function createSqliteStore(database: Database): Store {
  const tables: StoreWrites = {
    workflows: createWorkflowRepository(database),
    scripts: createScriptRepository(database),
    topics: createTopicRepository(database),
    events: createEventRepository(database),
    scriptRuns: createScriptRunRepository(database),
    handlerRuns: createHandlerRunRepository(database),
    mutations: createMutationRepository(database),
    handlerStates: createHandlerStateRepository(database),
    producerSchedules: createProducerScheduleRepository(database),
    escalations: createEscalationRepository(database),
    logs: createLogRepository(database),
    settings: createSettingRepository(database),
    sessions: createSessionRepository(database),
    sessionAgents: createSessionAgentRepository(database),
    sessionEvents: createSessionEventRepository(database),
    sessionContext: createSessionContextRepository(database),
    sessionMessages: createSessionMessageRepository(database),
    archives: createArchiveRepository(database),
  }
  // The same objects serve reading and writing: the types keep writers inside a transaction, and so does the database.
  return {
    ...tables,
    transaction: (work) => database.transaction(() => work(tables)),
    together: (work) => database.together(work),
    checkInvariants: () => checkInvariants(database),
  }
}
