import type { JsonObject, JsonText } from './json.ts'

export const escalationKinds = [
  'indeterminate_mutation',
  'logic_failure',
  'retries_exhausted',
  'auth',
  'permission',
  'internal_failure',
] as const
export type EscalationKind = (typeof escalationKinds)[number]

export const escalationActions = [
  'happened',
  'did_not_happen',
  'skip',
  'retry',
  'grant',
  'reconnect',
  'check_again',
] as const
export type EscalationAction = (typeof escalationActions)[number]

/** Something only a person can settle: an item in the inbox. Open while `resolvedAt` is null. */
export interface Escalation {
  id: string
  workflowId: string
  scriptRunId: string
  handlerRunId: string
  mutationId: string | null
  kind: EscalationKind
  message: string
  details: JsonObject
  /** What was offered when it was raised; the table in `machine/escalations` says the same for every kind. */
  actions: EscalationAction[]
  resolution: EscalationAction | null
  resolutionValue: JsonText | null
  createdAt: number
  resolvedAt: number | null
}
