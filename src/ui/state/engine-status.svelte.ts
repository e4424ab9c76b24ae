import type { EngineApi, EngineInfo } from '#worker/api.ts'

export type EngineStatusView =
  { kind: 'opening' } | { kind: 'open'; info: EngineInfo } | { kind: 'broken'; reason: string }

/** What the engine chip and card show. Replaced whole on each change. */
export class EngineStatus {
  #view = $state.raw<EngineStatusView>({ kind: 'opening' })

  get view(): EngineStatusView {
    return this.#view
  }

  async read(engine: EngineApi): Promise<void> {
    const answer = await engine.engineInfo()
    if (answer.ok) this.#view = { kind: 'open', info: answer.value }
    else this.break(answer.error.message)
  }

  break(reason: string): void {
    this.#view = { kind: 'broken', reason }
  }
}
