import type { OperationKind } from '../machine/operations.ts'
import { phaseViolation, sessionOperations, topicOperations } from '../machine/operations.ts'
import type { Failure } from '../model/errors.ts'
import { failure } from '../model/errors.ts'
import type { Event, EventDraft } from '../model/event.ts'
import type { HandlerRun } from '../model/handler-run.ts'
import type { Json, JsonText } from '../model/json.ts'
import { logLevels } from '../model/log.ts'
import type { LogLevel, LogLine } from '../model/log.ts'
import type { Reservation } from '../model/prepare-result.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import type { AbortSignalLike, ForeseenAnswer, HostReply, PhaseHost, ScriptPhase } from '../ports/sandbox.ts'
import { textOfLook } from '../script/topic-look.ts'
import type { ToolMethod } from '../ports/tools.ts'
import { isTextTooDeep, TOO_DEEP } from '../script/nesting.ts'
import { parseGetByIds, parsePeek, parsePublish } from '../script/topic-calls.ts'
import { callTool, costOf } from './call-tool.ts'
import { costUsedUp, usedUpFailure } from './daily-limits.ts'
import type { EngineOptions, EnginePorts } from './ports.ts'
import type { AgentHost } from './sessions/agent-host.ts'
import type { PhaseTrace } from './transitions/attempts.ts'

/** A mutation the script asked for. It is not made here: the script ends first, and the ledger comes before the call. */
export interface MutationCall {
  method: ToolMethod
  /** As checked by the tool, or the bare arguments when it refused them. */
  params: Json
  refusal: Failure | null
}

/** The host's side of one phase of one attempt: checks every call, buffers what the commit will write. */
export interface AttemptHost extends PhaseHost {
  trace(): PhaseTrace
  drafts(): readonly EventDraft[]
  touched(): Reservation[]
  /** The one mutation that was asked for, null when none was. Two are an error, whether the script caught it or not. */
  mutationCall(): Result<MutationCall | null, Failure>
}

export interface HostedPhase {
  run: HandlerRun
  phase: ScriptPhase
  granted: readonly string[]
  subscribe: readonly string[]
  publishes: readonly string[]
  /** `ctx.session`, when the workflow is that of an agent. */
  agent?: AgentHost | undefined
}

type HostPorts = Pick<EnginePorts, 'store' | 'clock' | 'ids' | 'tools'>

export const createAttemptHost = (
  { store, clock, ids, tools }: HostPorts,
  options: EngineOptions,
  { run, phase, granted, subscribe, publishes, agent }: HostedPhase,
): AttemptHost => {
  const logs: LogLine[] = []
  const drafts: EventDraft[] = []
  const touched = new Map<string, Set<string>>()
  const mutationCalls: MutationCall[] = []
  let cost = 0

  const log = (level: LogLevel, message: string, data: JsonText | null = null): void => {
    logs.push({ at: clock.now(), phase: run.phase, level, message, data })
  }

  const noteShown = (topic: string, events: readonly Event[]): void => {
    const seen = touched.get(topic) ?? new Set()
    touched.set(topic, seen)
    for (const { messageId } of events) seen.add(messageId)
  }

  const showEvents = (topic: string, events: readonly Event[]): JsonText => {
    noteShown(topic, events)
    return eventsToScript(events)
  }

  const topicCall = (op: string, args: readonly Json[]): Result<JsonText | undefined, Failure> => {
    if (op === 'topics.publish') {
      const draft = parsePublish(args, publishes)
      if (!draft.ok) return draft
      if (drafts.length >= options.maxPublishesPerAttempt) {
        return err(
          failure(
            'logic',
            `topics.publish: more than ${String(options.maxPublishesPerAttempt)} events in one handler run. Publish fewer and leave the rest to the next one.`,
          ),
        )
      }
      drafts.push(draft.value)
      return ok(undefined)
    }
    if (op === 'topics.peek') {
      const asked = parsePeek(args, subscribe)
      if (!asked.ok) return asked
      const { topic, limit } = asked.value
      return ok(showEvents(topic, store.events.peek(run.workflowId, topic, limit)))
    }
    const asked = parseGetByIds(args, subscribe)
    if (!asked.ok) return asked
    const { topic, ids: messageIds } = asked.value
    return ok(showEvents(topic, store.events.getByMessageIds(run.workflowId, topic, messageIds)))
  }

  /** Only a look at the topic: it can be taken early, and forgotten if nobody asks. */
  const foresee = (op: string, argsText: JsonText, beyond = 0): ForeseenAnswer | undefined => {
    if (op !== 'topics.peek' || phase !== 'prepare' || isTextTooDeep(argsText)) return undefined
    const asked = parsePeek(JSON.parse(argsText) as Json[], subscribe)
    if (!asked.ok) return undefined
    const { topic, limit } = asked.value
    const waiting = store.events.peek(run.workflowId, topic, limit + beyond)
    const shown = waiting.slice(0, limit)
    const events = waiting.map((event) => ({ id: event.messageId, text: eventToScript(event) }))
    return {
      value: textOfLook({ limit, events }),
      taken: () => noteShown(topic, shown),
      look: { topic, limit, events, isAll: waiting.length < limit + beyond },
    }
  }

  const permissionRefusal = (op: string, method: ToolMethod, params: Json): Failure | null => {
    const missing = method.permissionsFor(params).filter((needed) => !granted.some((one) => tools.covers(one, needed)))
    if (missing.length === 0) return null
    const names = missing.map((name) => `"${name}"`).join(', ')
    return failure('permission', `${op} needs the permission ${names}, which was not granted to this workflow.`, {
      neededPermissions: missing,
    })
  }

  const checkToolCall = (op: string, method: ToolMethod, args: readonly Json[]): MutationCall => {
    try {
      const parsed = method.parse(args)
      if (!parsed.ok) return { method, params: [...args], refusal: failure('logic', `${op}: ${parsed.error}`) }
      return { method, params: parsed.value, refusal: permissionRefusal(op, method, parsed.value) }
    } catch (thrown) {
      // A mistake of ours. Nothing was sent, so it is a refusal like any other, also where nobody waits for the answer.
      return { method, params: [...args], refusal: toInternalFailure(op, thrown) }
    }
  }

  const overspent = ({ isCharged = false }: ToolMethod): Failure | null => {
    const usedUp = isCharged ? costUsedUp(store, run.workflowId, clock.now(), cost) : null
    return usedUp && usedUpFailure(usedUp, clock.now())
  }

  const readTool = async (op: string, call: MutationCall, signal: AbortSignalLike): Promise<HostReply> => {
    const refusal = call.refusal ?? overspent(call.method)
    if (refusal !== null) return { kind: 'error', failure: refusal }
    const startedAt = clock.now()
    const context = { workflowId: run.workflowId, handlerRunId: run.id, idempotencyKey: null, signal }
    const outcome = await callTool(call.method, call.params, context).catch((thrown: unknown) => ({
      kind: 'failed' as const,
      failure: toInternalFailure(op, thrown),
      cost: 0,
    }))
    cost += costOf(outcome)
    const data = { op, params: call.params, ms: clock.now() - startedAt }
    if (outcome.kind === 'ok') {
      log('debug', op, JSON.stringify(data))
      return { kind: 'value', value: outcome.value === undefined ? undefined : JSON.stringify(outcome.value) }
    }
    log('warn', `${op}: ${outcome.failure.message}`, JSON.stringify(data))
    return { kind: 'error', failure: outcome.failure }
  }

  /** All calls of one turn arrive before the first reply is taken, so a second mutation is seen before anything is sent. */
  const askForMutation = async (call: MutationCall): Promise<HostReply> => {
    mutationCalls.push(call)
    await Promise.resolve()
    if (mutationCalls.length === 1) return { kind: 'end' }
    return { kind: 'error', failure: secondMutation }
  }

  const call = async (op: string, argsText: JsonText, signal: AbortSignalLike): Promise<HostReply> => {
    const method = findTool(tools, op)
    const kind = operationKind(op, method, agent !== undefined)
    if (kind === null) return { kind: 'error', failure: failure('logic', `There is no \`ctx.${op}\`.`) }
    const violation = phaseViolation(op, kind, phase)
    if (violation !== null) return { kind: 'error', failure: failure('logic', violation) }
    if (isTextTooDeep(argsText)) return { kind: 'error', failure: failure('logic', `${op}: an argument ${TOO_DEEP}.`) }
    const args = JSON.parse(argsText) as Json[]
    if (method === undefined) {
      const isOfSession = agent !== undefined && Object.hasOwn(sessionOperations, op)
      const done = isOfSession ? agent.call(op, args) : topicCall(op, args)
      return done.ok ? { kind: 'value', value: done.value } : { kind: 'error', failure: done.error }
    }
    const checked = checkToolCall(op, method, args)
    return kind === 'tool_mutation' ? askForMutation(checked) : readTool(op, checked, signal)
  }

  return {
    call,
    log: (level, message) => {
      log(isLogLevel(level) ? level : 'info', message)
    },
    now: () => clock.now(),
    random: () => ids.random(),
    foresee,
    trace: () => ({ logs, cost }),
    drafts: () => drafts,
    touched: () => [...touched].map(([topic, messageIds]) => ({ topic, ids: [...messageIds] })),
    mutationCall: () => {
      const [only, ...others] = mutationCalls
      return others.length > 0 ? err(secondMutation) : ok(only ?? null)
    },
  }
}

const secondMutation = failure(
  'logic',
  'mutate started two mutations. One handler run makes exactly one; nothing was sent. Publish an event in next for each further one.',
)

export interface ContextOperations {
  operations: readonly string[]
  mutations: readonly string[]
}

/** Everything that exists anywhere on `ctx`; what a phase may not use is refused with a sentence, not with "undefined". */
const contextOperations = (tools: EnginePorts['tools'], isAgent: boolean): ContextOperations => ({
  operations: [
    ...Object.keys(topicOperations),
    ...(isAgent ? Object.keys(sessionOperations) : []),
    ...tools.list().map(nameOf),
  ],
  mutations: tools
    .list()
    .filter(({ kind }) => kind === 'mutation')
    .map(nameOf),
})

const nameOf = ({ namespace, method }: ToolMethod): string => `${namespace}.${method}`

/** The tools of an engine stay as they are for as long as it runs. */
export const createContextOperations = (tools: EnginePorts['tools']) => {
  const ofAgents = contextOperations(tools, true)
  const ofOthers = contextOperations(tools, false)
  return (isAgent: boolean): ContextOperations => (isAgent ? ofAgents : ofOthers)
}

const operationKind = (op: string, method: ToolMethod | undefined, isAgent: boolean): OperationKind | null => {
  if (method !== undefined) return method.kind === 'mutation' ? 'tool_mutation' : 'tool_read'
  if (isAgent && Object.hasOwn(sessionOperations, op)) return sessionOperations[op] ?? null
  return (Object.hasOwn(topicOperations, op) ? topicOperations[op] : undefined) ?? null
}

const findTool = (tools: EnginePorts['tools'], op: string): ToolMethod | undefined => {
  const dot = op.indexOf('.')
  return dot < 0 ? undefined : tools.find(op.slice(0, dot), op.slice(dot + 1))
}

export const toInternalFailure = (where: string, thrown: unknown): Failure => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const stack = thrown instanceof Error ? thrown.stack : undefined
  return failure('internal', `${where} failed inside Holdfast: ${message}`, stack === undefined ? {} : { stack })
}

const isLogLevel = (level: string): level is LogLevel => (logLevels as readonly string[]).includes(level)

const eventsToScript = (events: readonly Event[]): JsonText => `[${events.map(eventToScript).join(',')}]`

/** The payload is stored as JSON text and goes into the script's JSON as it is. */
const eventToScript = (event: Event): JsonText =>
  `{"messageId":${JSON.stringify(event.messageId)},"title":${JSON.stringify(event.title)},` +
  `"status":"${event.status}","createdAt":${String(event.createdAt)},"payload":${event.payload}}`
