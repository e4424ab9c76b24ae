import type { EngineApi, SessionProblemView } from '#worker/api.ts'
import { draftToRequest, emptyDraft, type DraftAgent, type SessionDraft } from './session-draft.ts'

const TYPING_PAUSE_MS = 300
/** Stands in for an objective while it is empty: whether to complain of that is not the engine's to say. */
const SOME_OBJECTIVE = 'Something'

/** A session that is being put together. The engine checks it after every change; nothing is created until it is asked for. */
export class SessionBuilder {
  #draft = $state.raw<SessionDraft>(emptyDraft())
  #problems = $state.raw<SessionProblemView[] | null>(null)
  #isObjectiveLeft = $state(false)
  #timer: ReturnType<typeof setTimeout> | undefined
  #asked = 0
  #lastId: number
  readonly #first: SessionDraft
  readonly #engine: EngineApi

  constructor(engine: EngineApi, draft: SessionDraft) {
    this.#engine = engine
    this.#draft = draft
    this.#first = draft
    this.#lastId = Math.max(0, ...draft.agents.map(({ id }) => id))
    void this.#check()
  }

  get draft(): SessionDraft {
    return this.#draft
  }

  /** Null until it was checked for the first time. */
  get problems(): SessionProblemView[] | null {
    return this.#problems
  }

  /** Nobody is told of what they have not come to yet: only once the field was left, or something was to be created. */
  get objectiveProblem(): string | undefined {
    return this.#isObjectiveLeft && this.isObjectiveEmpty ? 'Say in a sentence what is to be reached.' : undefined
  }

  get isObjectiveEmpty(): boolean {
    return this.#draft.objective.trim() === ''
  }

  get isUntouched(): boolean {
    return this.#draft === this.#first && !this.#isObjectiveLeft
  }

  leaveObjective(): void {
    this.#isObjectiveLeft = true
  }

  change(change: Partial<SessionDraft>): void {
    this.#draft = { ...this.#draft, ...change }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#check(), TYPING_PAUSE_MS)
  }

  changeAgent(id: number, change: Partial<DraftAgent>): void {
    const before = this.#draft.agents.find((agent) => agent.id === id)
    const renamed = change.key !== undefined && before !== undefined ? { from: before.key, to: change.key } : null
    const agents = this.#draft.agents.map((agent) => {
      const changed = agent.id === id ? { ...agent, ...change } : agent
      if (renamed === null || !changed.dependsOn.includes(renamed.from)) return changed
      return { ...changed, dependsOn: changed.dependsOn.map((key) => (key === renamed.from ? renamed.to : key)) }
    })
    this.change({ agents })
  }

  addAgent(source: string): void {
    this.#lastId += 1
    const key = `agent${this.#draft.agents.length + 1}`
    const agent = { id: this.#lastId, key, role: 'worker', task: '{}', source, dependsOn: [], stage: '' }
    this.change({ agents: [...this.#draft.agents, agent] })
  }

  removeAgent(id: number): void {
    const key = this.#draft.agents.find((agent) => agent.id === id)?.key
    const agents = this.#draft.agents
      .filter((agent) => agent.id !== id)
      .map((agent) => ({ ...agent, dependsOn: agent.dependsOn.filter((other) => other !== key) }))
    this.change({ agents })
  }

  /** Checks without waiting, and answers whether it may be created. */
  async isGood(): Promise<boolean> {
    clearTimeout(this.#timer)
    this.leaveObjective()
    await this.#check()
    return !this.isObjectiveEmpty && this.#problems?.length === 0
  }

  async #check(): Promise<void> {
    const asked = (this.#asked += 1)
    const request = draftToRequest(this.#draft)
    const objective = request.objective === '' ? SOME_OBJECTIVE : request.objective
    const answer = await this.#engine.checkSession({ ...request, objective })
    // A later question is under way: its answer counts.
    if (asked !== this.#asked) return
    this.#problems = answer.ok ? answer.value : [{ message: answer.error.message, agents: [] }]
  }
}
