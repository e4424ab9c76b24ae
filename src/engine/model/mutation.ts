import type { JsonText } from './json.ts'

export const mutationStatuses = ['pending', 'in_flight', 'applied', 'failed', 'indeterminate'] as const
export type MutationStatus = (typeof mutationStatuses)[number]

export const mutationResolvers = ['user_happened', 'user_did_not_happen', 'user_skip', 'reconciled'] as const
export type MutationResolver = (typeof mutationResolvers)[number]

/** One entry of the ledger: the one outside side effect of a consumer's handler run. */
export interface Mutation {
  id: string
  handlerRunId: string
  workflowId: string
  toolNamespace: string
  toolMethod: string
  /** What the host was really asked to send, not the script's words about it. */
  params: JsonText
  /** The same for every attempt on the same events, so that the other side can recognise a repetition. */
  idempotencyKey: string
  status: MutationStatus
  result: JsonText | null
  error: string | null
  resolvedBy: MutationResolver | null
  resolvedAt: number | null
  createdAt: number
  updatedAt: number
}
