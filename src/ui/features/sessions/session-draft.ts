import type { Json } from '#engine/model/json.ts'
import type { FailurePolicy, SessionStrategy } from '#engine/model/session.ts'
import type { AgentRequest, SessionRequest } from '#engine/model/session-request.ts'

/** An agent as it stands in the form: everything is text until it is sent. */
export interface DraftAgent {
  /** For the form only: keys may be empty or double while they are typed. */
  id: number
  key: string
  role: string
  task: string
  source: string
  dependsOn: string[]
  stage: string
}

export interface SessionDraft {
  objective: string
  strategy: SessionStrategy
  onFailure: FailurePolicy
  maxParallel: string
  agents: DraftAgent[]
}

export const emptyDraft = (): SessionDraft => ({
  objective: '',
  strategy: 'adaptive',
  onFailure: 'stop',
  maxParallel: '',
  agents: [],
})

export const requestToDraft = (request: SessionRequest): SessionDraft => ({
  objective: request.objective,
  strategy: request.strategy,
  onFailure: request.onFailure ?? 'stop',
  maxParallel: request.maxParallel === undefined ? '' : String(request.maxParallel),
  agents: request.agents.map(({ key, role, task, source, dependsOn = [], stage }, id) => ({
    id,
    key,
    role,
    source,
    task: typeof task === 'string' ? task : JSON.stringify(task),
    dependsOn: [...dependsOn],
    stage: stage === undefined ? '' : String(stage),
  })),
})

/** What does not belong to the strategy is left out, so that trying another strategy loses nothing in the form. */
export function draftToRequest(draft: SessionDraft): SessionRequest {
  const { objective, strategy, onFailure, maxParallel } = draft
  return {
    objective: objective.trim(),
    strategy,
    onFailure,
    ...(maxParallel.trim() === '' ? {} : { maxParallel: Number(maxParallel) }),
    agents: draft.agents.map(({ key, role, task, source, dependsOn, stage }): AgentRequest => ({
      key: key.trim(),
      role: role.trim(),
      task: readTask(task),
      source,
      ...(strategy === 'adaptive' && dependsOn.length > 0 ? { dependsOn: [...dependsOn] } : {}),
      ...(strategy === 'pipeline' && stage.trim() !== '' ? { stage: Number(stage) } : {}),
    })),
  }
}

/** An object or a list is taken as such; everything else is the sentence that it is. */
export function readTask(text: string): Json {
  const trimmed = text.trim()
  if (!/^[[{]/.test(trimmed)) return trimmed
  try {
    return JSON.parse(trimmed) as Json
  } catch {
    return trimmed
  }
}
