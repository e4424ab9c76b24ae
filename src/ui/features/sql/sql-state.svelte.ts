import type { EngineApi, SqlTable } from '#worker/api.ts'

export interface SqlProblem {
  message: string
  /** Of what is wrong in the query that was asked; null when SQLite does not say. */
  place: { from: number; to: number } | null
}

export type SqlAnswer =
  | { kind: 'none' }
  | { kind: 'asking' }
  | { kind: 'answered'; table: SqlTable; tookMs: number }
  | { kind: 'failed'; problem: SqlProblem }

/** A query being written and the answer to what was asked last. */
export class SqlState {
  #text = $state.raw('')
  #answer = $state.raw<SqlAnswer>({ kind: 'none' })
  #asked = 0
  readonly #engine: EngineApi

  constructor(engine: EngineApi) {
    this.#engine = engine
  }

  get text(): string {
    return this.#text
  }

  get answer(): SqlAnswer {
    return this.#answer
  }

  /** The place of a problem is that in the old text: with the next letter it is nowhere. */
  write(text: string): void {
    this.#text = text
    if (this.#answer.kind !== 'failed') return
    this.#answer = { kind: 'failed', problem: { ...this.#answer.problem, place: null } }
  }

  async ask(text = this.#text): Promise<void> {
    this.#text = text
    this.#answer = { kind: 'asking' }
    const asked = (this.#asked += 1)
    const start = performance.now()
    const answer = await this.#engine.getQueryTable(text)
    if (asked !== this.#asked) return
    this.#answer = answer.ok
      ? { kind: 'answered', table: answer.value, tookMs: performance.now() - start }
      : { kind: 'failed', problem: { message: answer.error.message, place: placeOf(answer.error.details) } }
  }
}

function placeOf(details: unknown): SqlProblem['place'] {
  if (typeof details !== 'object' || details === null) return null
  const { from, to } = details as Record<string, unknown>
  return typeof from === 'number' && typeof to === 'number' ? { from, to } : null
}
