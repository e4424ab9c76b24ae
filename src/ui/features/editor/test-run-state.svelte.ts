import type { EngineError } from '#engine/model/errors.ts'
import type { EngineApi, TestInputFound, TestRunReport } from '#worker/api.ts'
import { foundToInput, inputToText, sampleInput, textToInput } from './test-input.ts'

/** Whose input is wanted. */
export interface TestSubject {
  /** Undefined for a script that was never deployed. */
  workflowId: string | undefined
  handler: string
  topics: readonly string[]
  /** Empty unless an earlier attempt is looked into. */
  attemptId: string
}

type Origin = TestInputFound['from'] | 'sample'

const origins: Record<Origin, string> = {
  attempt: 'A copy of what the attempt had. Change it as you like.',
  waiting: 'A copy of what it remembers and of the events that wait now. Change it as you like.',
  latest: 'No event waits now: this is a copy of the last one. Change it as you like.',
  nothing: 'There is no event to copy: write one. It has a topic, a messageId and a payload.',
  sample: 'There is nothing to copy yet: write what it is to be given.',
}

/** The input of a test run as it is being written, and what the last run said. */
export class TestRunState {
  readonly #engine: EngineApi
  /** What was copied, and what was made of it, each by handler: choosing another and coming back loses nothing. */
  #filled = $state.raw<Readonly<Record<string, { text: string; origin: Origin }>>>({})
  #edited = $state.raw<Readonly<Record<string, string>>>({})
  isRunning = $state(false)
  report = $state.raw<TestRunReport>()
  refusal = $state.raw<EngineError>()

  constructor(engine: EngineApi) {
    this.#engine = engine
  }

  text = (handler: string): string => this.#edited[handler] ?? this.#filled[handler]?.text ?? ''
  origin = (handler: string): string => origins[this.#filled[handler]?.origin ?? 'sample']
  isFilled = (handler: string): boolean => this.#filled[handler] !== undefined
  isEdited = (handler: string): boolean => this.#edited[handler] !== undefined

  edit(handler: string, text: string): void {
    this.#edited = { ...this.#edited, [handler]: text }
  }

  reset(handler: string): void {
    const { [handler]: _, ...others } = this.#edited
    this.#edited = others
  }

  async fill({ workflowId, handler, topics, attemptId }: TestSubject): Promise<void> {
    const found =
      workflowId === undefined
        ? null
        : await this.#engine.getTestInput({
            workflowId,
            handler,
            topics,
            ...(attemptId !== '' && { attemptId }),
          })
    if (found?.ok === false) this.refusal = found.error
    const isCopied = found?.ok === true && (found.value.from !== 'nothing' || topics.length === 0)
    const input = isCopied ? foundToInput(found.value) : sampleInput(topics)
    const origin = found?.ok === true ? found.value.from : 'sample'
    this.#filled = { ...this.#filled, [handler]: { text: inputToText(input, topics), origin } }
  }

  async run(request: {
    workflowId: string | undefined
    source: string
    handler: string
    grant?: string[]
  }): Promise<void> {
    const read = textToInput(this.text(request.handler))
    if ('problem' in read) return
    const { workflowId, ...rest } = request
    this.isRunning = true
    this.refusal = undefined
    const answer = await this.#engine.testRun({
      ...rest,
      input: read.input,
      ...(workflowId !== undefined && { workflowId }),
    })
    this.isRunning = false
    this.report = answer.ok ? answer.value : undefined
    this.refusal = answer.ok ? undefined : answer.error
  }
}
