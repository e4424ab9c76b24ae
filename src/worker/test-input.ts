import { engineError } from '#engine/model/errors.ts'
import type { Event, EventDraft } from '#engine/model/event.ts'
import type { HandlerRun } from '#engine/model/handler-run.ts'
import type { JsonText } from '#engine/model/json.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { StoreReads } from '#engine/ports/store.ts'
import type { EventQuery, Listed } from './views-api.ts'

export interface TestInputRequest {
  workflowId: string
  handler: string
  /** What the handler subscribes to in the script that is being written. */
  topics: readonly string[]
  /** Of this workflow: its state and its events are the input, instead of what waits now. */
  attemptId?: string
}

export interface CopiedInput {
  state: JsonText | null
  events: EventDraft[]
}

export interface TestInputFound extends CopiedInput {
  /** Where the events come from. `latest`: nothing waits, so these are the last ones there were. */
  from: 'attempt' | 'waiting' | 'latest' | 'nothing'
}

/** Enough to see what a handler does; a copy of a million would say no more. */
const MOST_EVENTS = 200
/** A person is to read it, and change it. */
const MOST_CHARACTERS = 300_000

interface Parts {
  store: StoreReads
  listEvents: (query: EventQuery) => Promise<Result<Listed<{ id: string }>>>
}

/** What a test run of a handler would be given, for a person to look at and to change before it. */
export const createTestInput =
  ({ store, listEvents }: Parts) =>
  async (request: TestInputRequest): Promise<Result<TestInputFound>> => {
    const copied = copyInput(store, request)
    if (!copied.ok) return copied
    const { workflowId, topics, attemptId } = request
    if (attemptId !== undefined) return ok({ ...copied.value, from: 'attempt' })
    if (copied.value.events.length > 0) return ok({ ...copied.value, from: 'waiting' })
    const events: EventDraft[] = []
    for (const topic of topics) {
      const listed = await listEvents({ workflowId, topic, limit: 1 })
      if (!listed.ok) return listed
      events.push(...listed.value.rows.flatMap(({ id }) => store.events.get(id) ?? []).map(toDraft))
    }
    return ok({ ...copied.value, events, from: events.length > 0 ? 'latest' : 'nothing' })
  }

/** What the handler remembers, and the events it would see. */
export function copyInput(store: StoreReads, request: TestInputRequest): Result<CopiedInput> {
  const { workflowId, handler, topics, attemptId } = request
  if (store.workflows.get(workflowId) === undefined) {
    return err(engineError('not_found', `There is no workflow "${workflowId}".`))
  }
  const attempt = attemptId === undefined ? ok(undefined) : findAttempt(store, workflowId, attemptId)
  if (!attempt.ok) return attempt
  const state = attempt.value?.inputState ?? store.handlerStates.get(workflowId, handler)?.state ?? null
  return ok({ state, events: inputEvents(store, workflowId, topics, attemptId) })
}

function findAttempt(store: StoreReads, workflowId: string, attemptId: string): Result<HandlerRun> {
  const attempt = store.handlerRuns.get(attemptId)
  if (attempt === undefined) return err(engineError('not_found', `There is no attempt "${attemptId}" any more.`))
  if (attempt.workflowId === workflowId) return ok(attempt)
  return err(engineError('invalid_input', 'The attempt belongs to another workflow.'))
}

/** What an attempt holds comes first: it was its input. What waits now follows, as it would. */
function inputEvents(
  store: StoreReads,
  workflowId: string,
  topics: readonly string[],
  attemptId: string | undefined,
): EventDraft[] {
  const held = attemptId === undefined ? [] : store.events.reservedBy(attemptId)
  const waiting = topics.flatMap((topic) => store.events.peek(workflowId, topic, MOST_EVENTS))
  const all = [...held.filter(({ topic }) => topics.includes(topic)), ...waiting].slice(0, MOST_EVENTS)
  let characters = 0
  return all
    .filter(({ payload }, index) => (characters += payload.length) <= MOST_CHARACTERS || index === 0)
    .map(toDraft)
}

export const toDraft = ({ topic, messageId, title, payload }: Event): EventDraft => ({
  topic,
  messageId,
  title,
  payload,
})
