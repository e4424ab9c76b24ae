import type { Phase } from '#engine/model/handler-run.ts'
import type { EngineApi, RecoverySummary } from '#worker/api.ts'
import type { EngineClient } from '../client/engine-client.ts'

/** Where the demo runs. */
export interface DemoPlace {
  workflowId: string
  sessionId: string
}

/** One attempt that was at work when the worker was ended. */
export interface CutOff {
  attemptId: string
  runId: string
  handlerName: string
  phase: Phase
}

export interface Kill {
  at: number
  cutOff: readonly CutOff[]
  /** Null until an engine answers again; its recovery is null when another tab had it all the time. */
  back: { afterMs: number; recovery: RecoverySummary | null } | null
}

const KEY = 'holdfast:demo'

/** The live demo: where it runs, and what became of killing it. Kept in this browser, because the demo is only for this visitor. */
export class LiveDemo {
  #place = $state.raw<DemoPlace | null>(readPlace())
  #kill = $state.raw<Kill | null>(null)
  #kills = $state.raw(0)
  readonly #client: EngineClient

  constructor(client: EngineClient) {
    this.#client = client
  }

  get place(): DemoPlace | null {
    return this.#place
  }

  get lastKill(): Kill | null {
    return this.#kill
  }

  get kills(): number {
    return this.#kills
  }

  settleAt(place: DemoPlace | null): void {
    this.#kill = null
    this.#kills = 0
    this.moveTo(place)
  }

  moveTo(place: DemoPlace | null): void {
    this.#place = place
    if (place === null) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, JSON.stringify(place))
  }

  /** Ends the worker in the middle of whatever it does, and takes the time until an engine answers again. */
  async kill(cutOff: readonly CutOff[]): Promise<void> {
    const startedAt = performance.now()
    const kill: Kill = { at: Date.now(), cutOff, back: null }
    this.#kill = kill
    this.#kills += 1
    this.#client.crash()
    const recovery = await recoveryAfter(this.#client.engine, kill.at)
    if (this.#kill === kill) this.#kill = { ...kill, back: { afterMs: performance.now() - startedAt, recovery } }
  }
}

async function recoveryAfter(engine: EngineApi, at: number): Promise<RecoverySummary | null> {
  const info = await engine.engineInfo()
  const last = info.ok ? info.value.lastRecovery : null
  return last !== null && last.at >= at ? last : null
}

function readPlace(): DemoPlace | null {
  const text = localStorage.getItem(KEY)
  return text === null ? null : (JSON.parse(text) as DemoPlace)
}
