import type { EngineInfo } from '#worker/api.ts'
import type { EngineStatusView } from './engine-status.svelte.ts'
import type { Toasts } from './toasts.svelte.ts'

/** Says so when another tab has taken over the engine, or this one has. */
export class Takeovers {
  readonly #toasts: Toasts
  #last: Pick<EngineInfo, 'epoch' | 'role'> | null = null

  constructor(toasts: Toasts) {
    this.#toasts = toasts
  }

  notice(view: EngineStatusView): void {
    if (view.kind !== 'open') return
    const { epoch, role } = view.info
    const last = this.#last
    this.#last = { epoch, role }
    if (last === null || (epoch === last.epoch && role === last.role)) return
    if (role === 'leader' && last.role === 'follower') {
      this.#toasts.show({ tone: 'busy', text: 'The tab that ran the engine is gone: this one runs it now.' })
    } else if (role === 'follower') {
      this.#toasts.show({ tone: 'busy', text: 'Another tab runs the engine now. Everything works here as before.' })
    }
  }
}
