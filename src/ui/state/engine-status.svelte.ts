import type { EngineApi, EngineInfo } from '#worker/api.ts'
import type { ChangeFeed } from '../client/change-feed.ts'

export type EngineStatusView =
  | { kind: 'opening' }
  /** The worker was ended and a new one is opening. */
  | { kind: 'recovering' }
  | { kind: 'open'; info: EngineInfo }
  | { kind: 'broken'; reason: string }

const SHORTEST_GAP_MS = 500

/** What the engine chip shows. Replaced whole on each change, read again when anything at all changed. */
export class EngineStatus {
  #view = $state.raw<EngineStatusView>({ kind: 'opening' })
  #isDue = false
  #engine: EngineApi | undefined

  get view(): EngineStatusView {
    return this.#view
  }

  follow(engine: EngineApi, changes: ChangeFeed): void {
    this.#engine = engine
    changes.subscribeToAll(() => this.#readSoon())
    void this.read()
  }

  async read(): Promise<void> {
    const answer = await this.#engine?.engineInfo()
    if (answer === undefined) return
    if (answer.ok) this.#view = { kind: 'open', info: answer.value }
    else if (this.#view.kind !== 'recovering') this.break(answer.error.message)
  }

  recover(): void {
    this.#view = { kind: 'recovering' }
    void this.read()
  }

  break(reason: string): void {
    this.#view = { kind: 'broken', reason }
  }

  #readSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => {
      this.#isDue = false
      void this.read()
    }, SHORTEST_GAP_MS)
  }
}
