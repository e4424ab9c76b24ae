import type { EngineApi } from '#worker/api.ts'

export type UpdateState = 'none' | 'ready' | 'waiting' | 'elsewhere'

/** How long running work may keep an update waiting before the person is asked to try later. */
const QUIET_MS = 60_000
const LOOK_AGAIN_MS = 60 * 60_000

/**
 * A new version is fetched in the background and takes over only when the person says so and nothing is under way. When another
 * tab made it take over, this one goes on with the old version until it is reloaded by hand.
 */
export class Updates {
  #state = $state.raw<UpdateState>('none')
  #waiting: ServiceWorker | null = null
  #isOurs = false
  readonly #engine: EngineApi

  constructor(engine: EngineApi) {
    this.#engine = engine
  }

  get state(): UpdateState {
    return this.#state
  }

  async watch(container: ServiceWorkerContainer, url: string): Promise<void> {
    const isFirstVisit = container.controller === null
    const registration = await container.register(url, { updateViaCache: 'none' })
    this.#offer(registration.waiting)
    registration.addEventListener('updatefound', () => {
      const { installing } = registration
      installing?.addEventListener('statechange', () => {
        if (installing.state === 'installed') this.#offer(registration.waiting)
      })
    })
    container.addEventListener('controllerchange', () => {
      if (this.#isOurs) location.reload()
      else if (!isFirstVisit) this.#state = 'elsewhere'
    })
    setInterval(() => void registration.update().catch(() => undefined), LOOK_AGAIN_MS)
  }

  /** False when running work did not come to rest in time: nothing was changed then. */
  async apply(): Promise<boolean> {
    this.#state = 'waiting'
    const rest = await this.#engine.idle({ timeoutMs: QUIET_MS })
    if (!rest.ok || this.#waiting === null) {
      this.#state = 'ready'
      return false
    }
    this.#isOurs = true
    this.#waiting.postMessage('take over')
    return true
  }

  /** On the very first visit there is no older version to replace. */
  #offer(worker: ServiceWorker | null): void {
    if (worker === null || navigator.serviceWorker.controller === null) return
    this.#waiting = worker
    this.#state = 'ready'
  }
}
