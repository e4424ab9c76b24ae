import type { EngineError } from '../model/errors.ts'
import { engineError } from '../model/errors.ts'
import type { EscalationAction } from '../model/escalation.ts'
import { escalationActions } from '../model/escalation.ts'
import type { Json, JsonText } from '../model/json.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import { kindOf } from '../script/json-kind.ts'
import { workflowNameProblem } from '../script/names.ts'
import { isValueTooDeep, TOO_DEEP } from '../script/nesting.ts'

/*
 * Commands also come from scripts on the page, which no compiler has looked at. Whatever they pass, they get a sentence that says
 * which argument is wrong and what belongs there; nothing throws and nothing is written.
 */

export interface DeployRequest {
  source: string
  name?: string
  workflowId?: string
  /** A draft stays a draft until it is resumed. */
  activate?: boolean
  /** `declared`: everything the script asks for; a list: just these. What was granted before stays granted. */
  grant?: 'declared' | 'none' | readonly string[]
}

const invalid = (message: string): { ok: false; error: EngineError } => err(engineError('invalid_input', message))

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const kind = (value: unknown): string => kindOf(value as Json | undefined)

/** `what` is how the sentence calls it: "a workflow". */
export const parseId = (what: string, id: unknown): Result<string> =>
  isText(id) ? ok(id) : invalid(`The id of ${what} is ${kind(id)}. It must be a string that is not empty.`)

export const parseDeploy = (request: unknown): Result<DeployRequest> => {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return invalid(
      `deployWorkflow takes one object { source, name?, workflowId?, activate?, grant? }; it was given ${kind(request)}.`,
    )
  }
  const wanted = request as Partial<Record<keyof DeployRequest, unknown>>
  const problem =
    sourceProblem(wanted.source) ??
    nameProblem(wanted.name) ??
    optionalProblem('workflowId', wanted.workflowId, isText, 'the id of a workflow, a string that is not empty') ??
    optionalProblem('activate', wanted.activate, (value) => typeof value === 'boolean', 'true or false') ??
    optionalProblem('grant', wanted.grant, isGrant, '"declared", "none" or a list of permissions, each a string')
  return problem === null ? ok(wanted as DeployRequest) : invalid(problem)
}

const sourceProblem = (source: unknown): string | null =>
  typeof source === 'string' && source.trim() !== ''
    ? null
    : `There is no script to deploy: \`source\` is ${kind(source)}, and must be its text.`

const nameProblem = (name: unknown): string | null => {
  if (name === undefined) return null
  if (typeof name !== 'string') return `\`name\` is ${kind(name)}. It must be a string.`
  return workflowNameProblem(name) ?? null
}

const optionalProblem = (
  key: string,
  value: unknown,
  isGood: (value: unknown) => boolean,
  wanted: string,
): string | null =>
  value === undefined || isGood(value) ? null : `\`${key}\` is ${kind(value)}. It must be ${wanted}.`

const isGrant = (grant: unknown): boolean =>
  grant === 'declared' || grant === 'none' || (Array.isArray(grant) && grant.every(isText))

export const parseTopicName = (topic: unknown): Result<string> =>
  isText(topic) ? ok(topic) : invalid(`The topic is ${kind(topic)}. It must be the name of a topic.`)

export const parseAction = (action: unknown): Result<EscalationAction> => {
  const known = escalationActions.find((name) => name === action)
  if (known !== undefined) return ok(known)
  const given = typeof action === 'string' ? `"${action.slice(0, 100)}"` : kind(action)
  const names = escalationActions.map((name) => `"${name}"`).join(', ')
  return invalid(`There is no action ${given}. The actions are ${names}.`)
}

/** Null when nothing was given. */
export const parseOptionalJson = (what: string, value: unknown): Result<JsonText | null> => {
  if (value === undefined) return ok(null)
  const json = parseJson(what, value)
  return json.ok ? ok(JSON.stringify(json.value)) : json
}

/** A copy of what can be written as JSON: a date becomes its text, and what is undefined is left out. */
export const parseJson = (what: string, value: unknown): Result<Json> => {
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) return invalid(`The ${what} is ${kind(value)}, which cannot be written as JSON.`)
    const json = JSON.parse(text) as Json
    return isValueTooDeep(json) ? invalid(`The ${what} ${TOO_DEEP}. Make it flatter.`) : ok(json)
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.split('\n')[0] : String(thrown)
    return invalid(`The ${what} cannot be written as JSON: ${String(reason)}`)
  }
}

export const parseEscalationFilter = (filter: unknown): Result<{ open?: boolean }> => {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) {
    return invalid(`listEscalations takes { open: true } or { open: false }; it was given ${kind(filter)}.`)
  }
  const { open } = filter as { open?: unknown }
  if (open === undefined) return ok({})
  return typeof open === 'boolean' ? ok({ open }) : invalid(`\`open\` is ${kind(open)}. It must be true or false.`)
}
