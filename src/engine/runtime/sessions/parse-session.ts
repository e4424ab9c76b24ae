import type { AgentDraft, SessionProblem } from '../../machine/session-checks.ts'
import type { JsonObject } from '../../model/json.ts'
import type { FailurePolicy, SessionStrategy } from '../../model/session.ts'
import { failurePolicies, sessionStrategies } from '../../model/session.ts'
import type { AgentRequest, SessionRequest } from '../../model/session-request.ts'
import { isJsonObject, kindOf, quoteAll } from '../../script/json-kind.ts'
import { nameProblem } from '../../script/names.ts'
import { parseJson } from '../command-input.ts'

/** Null where the problems say what is wrong. */
export interface ParsedSession {
  objective: string
  strategy: SessionStrategy | null
  onFailure: FailurePolicy
  maxParallel: number | null
  metadata: JsonObject
  agents: AgentDraft[]
  problems: SessionProblem[]
}

const maxAgents = 2000
const longestText = 20_000

type Unknown<T> = Partial<Record<keyof T, unknown>>

/** Collects everything that is wrong instead of stopping at the first. */
export const parseSession = (request: unknown): ParsedSession => {
  const problems: SessionProblem[] = []
  const complain = (message: string, agents: string[] = []): void => void problems.push({ message, agents })
  const given = (isObject(request) ? request : {}) as Unknown<SessionRequest>
  if (!isObject(request)) {
    complain(
      `createSession takes one object { objective, strategy, agents, onFailure?, maxParallel?, metadata? }; it was given ${kind(request)}.`,
    )
  }
  const { objective = '', strategy, onFailure = 'stop', maxParallel = null } = given
  if (!isText(objective))
    complain(`The objective is ${kind(given.objective)}. Say in a sentence what is to be achieved.`)
  const known = sessionStrategies.find((name) => name === strategy) ?? null
  if (known === null) complain(`The strategy is ${shown(strategy)}. It is one of ${quoteAll(sessionStrategies)}.`)
  const policy = failurePolicies.find((name) => name === onFailure)
  if (policy === undefined) complain(`onFailure is ${shown(onFailure)}. It is one of ${quoteAll(failurePolicies)}.`)
  if (maxParallel !== null && !isCount(maxParallel, 1)) {
    complain(`maxParallel is ${shown(maxParallel)}. It must be a whole number from 1 on; leave it out for no limit.`)
  }
  const metadata = parseMetadata(given.metadata, complain)
  return {
    objective: isText(objective) ? objective : '',
    strategy: known,
    onFailure: policy ?? 'stop',
    maxParallel: isCount(maxParallel, 1) ? maxParallel : null,
    metadata,
    agents: parseAgents(given.agents, complain),
    problems,
  }
}

type Complain = (message: string, agents?: string[]) => void

const parseMetadata = (metadata: unknown, complain: Complain): JsonObject => {
  if (metadata === undefined || metadata === null) return {}
  const json = parseJson('metadata', metadata)
  if (json.ok && isJsonObject(json.value)) return json.value
  complain(json.ok ? `The metadata is ${kindOf(json.value)}. It must be an object.` : json.error.message)
  return {}
}

const parseAgents = (agents: unknown, complain: Complain): AgentDraft[] => {
  if (agents === undefined || agents === null) return []
  if (!Array.isArray(agents)) {
    complain(
      `The agents are ${kind(agents)}. They must be an array of { key, role, task, source, dependsOn?, stage? }.`,
    )
    return []
  }
  if (agents.length > maxAgents) {
    complain(`${String(agents.length)} agents are too many: a session has at most ${String(maxAgents)}.`)
    return []
  }
  return agents.map((agent, index) => parseAgent(agent, `Agent ${String(index + 1)}`, complain))
}

/** A draft in any case, so that the checks of the whole can go on; what is wrong with it has been said. */
export const parseAgent = (agent: unknown, ordinal: string, complain: Complain): AgentDraft => {
  if (!isObject(agent)) complain(`${ordinal} is ${kind(agent)}. It must be an object { key, role, task, source }.`)
  const given = (isObject(agent) ? agent : {}) as Unknown<AgentRequest>
  const key = typeof given.key === 'string' ? given.key : ''
  const name = key === '' ? ordinal : `The agent "${key}"`
  const about = key === '' ? [] : [key]
  const say = (sentence: string): void => {
    if (isObject(agent)) complain(`${name} ${sentence}`, about)
  }
  const checkName = (part: 'key' | 'role', value: unknown): string => {
    if (typeof value !== 'string') say(`has ${kind(value)} as its ${part}. It must be a string.`)
    else {
      const problem = nameProblem(part, value)
      if (problem !== undefined) complain(`${ordinal}: ${problem}`, about)
      return value
    }
    return ''
  }
  checkName('key', given.key)
  const role = checkName('role', given.role)
  const task = parseJson('task', given.task)
  const isTask = task.ok && task.value !== null && task.value !== '' && JSON.stringify(task.value).length <= longestText
  if (!isTask) {
    say(
      task.ok
        ? `has ${kind(given.task)} as its task. Say what it is to do, in words or as data, in at most ${String(longestText)} characters.`
        : `has no task that can be kept. ${task.error.message}`,
    )
  }
  if (!isText(given.source, Infinity))
    say(`has ${kind(given.source)} as its source. It must be the text of its script.`)
  const { dependsOn = [], stage = null } = given
  const isList = Array.isArray(dependsOn) && dependsOn.every((item) => typeof item === 'string')
  if (!isList) say(`has a dependsOn that is no list of keys.`)
  const isStage = stage === null || isCount(stage, 0)
  if (!isStage) say(`has ${shown(stage)} as its stage. It must be a whole number from 0 on.`)
  return {
    key,
    role,
    task: isTask ? task.value : '',
    source: typeof given.source === 'string' ? given.source : '',
    dependsOn: isList ? [...new Set(dependsOn)] : [],
    stage: isStage ? stage : null,
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown, longest = longestText): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= longest

const isCount = (value: unknown, least: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least

const kind = (value: unknown): string => {
  if (typeof value === 'string' && value.length > longestText) return `${String(value.length)} characters of text`
  return typeof value === 'string' && value !== '' && value.trim() === '' ? 'blank' : kindOf(value as never)
}

const shown = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(value.slice(0, 100))
    : typeof value === 'number'
      ? String(value)
      : kind(value)
