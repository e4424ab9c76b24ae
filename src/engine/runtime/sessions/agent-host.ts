import { handoffKeys } from '../../machine/session-plan.ts'
import type { Failure } from '../../model/errors.ts'
import { EngineBug, failure } from '../../model/errors.ts'
import type { Json, JsonObject, JsonText } from '../../model/json.ts'
import type { Result } from '../../model/result.ts'
import { err, ok } from '../../model/result.ts'
import type { Session, SessionAgent } from '../../model/session.ts'
import type { StoreReads } from '../../ports/store.ts'
import { kindOf, quoteAll } from '../../script/json-kind.ts'
import { nameProblem } from '../../script/names.ts'
import type { OutgoingMessage, SessionWrites } from '../transitions/session-writes.ts'

/** The host's side of `ctx.session` in one phase of one attempt: reads at once, keeps writes back for the commit. */
export interface AgentHost {
  /** What is simply there: objective, agent, task, handoff. */
  values: JsonObject
  call(op: string, args: readonly Json[]): Result<JsonText | undefined, Failure>
  writes(): SessionWrites
  seenMessageIds(): readonly number[]
}

const maxMessages = 1000

export interface AgentOfSession {
  session: Session
  agent: SessionAgent
}

/** Undefined for a workflow of its own. */
export const findAgent = (
  store: StoreReads,
  workflow: { id: string; sessionId: string | null },
): AgentOfSession | undefined => {
  if (workflow.sessionId === null) return undefined
  const agent = store.sessionAgents.ofWorkflow(workflow.id)
  const session = store.sessions.get(workflow.sessionId)
  if (agent === undefined || session === undefined) throw new EngineBug(`Workflow ${workflow.id} has lost its session.`)
  return { session, agent }
}

export const createAgentHost = (
  store: StoreReads,
  { session, agent }: AgentOfSession,
  maxValueBytes: number,
): AgentHost => {
  const context = new Map<string, JsonText>()
  const messages: OutgoingMessage[] = []
  const seen = new Set<number>()
  let output: JsonText | undefined

  const toText = (op: string, value: Json | undefined): Result<JsonText, Failure> => {
    const text = JSON.stringify(value ?? null)
    return text.length <= maxValueBytes
      ? ok(text)
      : refuse(op, `the value has ${kib(text.length)}; at most ${kib(maxValueBytes)} are kept.`)
  }

  const getContext = (key: Json | undefined): Result<JsonText | undefined, Failure> => {
    const name = parseKey('context.get', key)
    return name.ok ? ok(store.sessionContext.get(session.id, name.value)?.value) : name
  }

  const readInbox = (): Result<JsonText, Failure> => {
    const keyOf = new Map(store.sessionAgents.planOf(session.id).map(({ id, key }) => [id, key]))
    const unread = store.sessionMessages.unreadBy(agent.id)
    for (const { id } of unread) seen.add(id)
    const shown = unread.map(
      ({ fromAgentId, sentAt, body }) =>
        `{"from":${JSON.stringify(keyOf.get(fromAgentId) ?? fromAgentId)},"sentAt":${String(sentAt)},"body":${body}}`,
    )
    return ok(`[${shown.join(',')}]`)
  }

  const setContext = (key: Json | undefined, value: Json | undefined): Result<undefined, Failure> => {
    const name = parseKey('context.set', key)
    if (!name.ok) return name
    const text = toText('context.set', value)
    if (!text.ok) return text
    context.set(name.value, text.value)
    return ok(undefined)
  }

  const send = (to: Json | undefined, body: Json | undefined): Result<undefined, Failure> => {
    const recipients = findRecipients(store, session.id, to)
    if (!recipients.ok) return recipients
    const text = toText('send', body)
    if (!text.ok) return text
    if (messages.length + recipients.value.length > maxMessages) {
      return refuse('send', `more than ${String(maxMessages)} messages in one handler run.`)
    }
    for (const recipient of recipients.value) messages.push({ ...recipient, body: text.value })
    return ok(undefined)
  }

  const handIn = (value: Json | undefined): Result<undefined, Failure> => {
    const text = toText('output', value)
    if (!text.ok) return text
    output = text.value
    return ok(undefined)
  }

  return {
    values: {
      objective: session.objective,
      agent: { id: agent.id, key: agent.key, role: agent.role },
      task: agent.task,
      handoff: handoffOf(store, session, agent),
    },
    call: (op, args) => {
      switch (op) {
        case 'session.context.get':
          return getContext(args[0])
        case 'session.inbox':
          return readInbox()
        case 'session.context.set':
          return setContext(args[0], args[1])
        case 'session.send':
          return send(args[0], args[1])
        case 'session.output':
          return handIn(args[0])
        default:
          return err(failure('logic', `There is no \`ctx.${op}\`.`))
      }
    },
    writes: () => ({ context, messages, output }),
    seenMessageIds: () => [...seen],
  }
}

/** Whoever comes before an agent is complete when it starts, so this is the same in every phase and after every restart. */
const handoffOf = (store: StoreReads, session: Session, agent: SessionAgent): JsonObject => {
  const isFromDependenciesOnly = session.strategy === 'parallel' || session.strategy === 'adaptive'
  const keys = isFromDependenciesOnly
    ? agent.dependencies
    : handoffKeys(session.strategy, store.sessionAgents.planOf(session.id), agent)
  if (keys.length === 0) return {}
  const outputs = store.sessionAgents.outputs(session.id, keys)
  return Object.fromEntries(keys.map((key) => [key, JSON.parse(outputs.get(key) ?? 'null') as Json]))
}

const findRecipients = (
  store: StoreReads,
  sessionId: string,
  to: Json | undefined,
): Result<Omit<OutgoingMessage, 'body'>[], Failure> => {
  if (typeof to !== 'string' || to === '') {
    return refuse('send', `the first argument is ${kindOf(to)}. It must be the key of an agent, or a role.`)
  }
  const agents = store.sessionAgents.planOf(sessionId)
  const addressed = agents.find(({ id, key }) => key === to || id === to)
  if (addressed !== undefined) return ok([{ toAgentId: addressed.id, toRole: null }])
  const ofRole = agents.filter(({ role }) => role === to)
  if (ofRole.length > 0) return ok(ofRole.map(({ id }) => ({ toAgentId: id, toRole: to })))
  const roles = quoteAll([...new Set(agents.map(({ role }) => role))].slice(0, 10))
  return refuse('send', `there is no agent and no role "${to.slice(0, 100)}" in this session. Its roles are ${roles}.`)
}

const parseKey = (op: string, key: Json | undefined): Result<string, Failure> => {
  if (typeof key !== 'string') return refuse(op, `the key is ${kindOf(key)}. It must be a string.`)
  const problem = nameProblem('context', key)
  return problem === undefined ? ok(key) : refuse(op, problem)
}

const refuse = (op: string, sentence: string): Result<never, Failure> =>
  err(failure('logic', `session.${op}: ${sentence}`))

const kib = (bytes: number): string => `${String(Math.ceil(bytes / 1024))} KiB`
