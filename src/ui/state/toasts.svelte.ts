import type { EngineError } from '#engine/model/errors.ts'
import type { Result } from '#engine/model/result.ts'

export interface Toast {
  id: number
  tone: 'good' | 'bad' | 'busy'
  text: string
  /** Undo, or where to go from here. */
  action?: { label: string; run: () => void } | undefined
}

const SHORT_MS = 5_000
const LONG_MS = 10_000

/** Word of what was done or went wrong, for a while. One that can be acted on, or says what went wrong, stays longer. */
export class Toasts {
  #list = $state.raw<readonly Toast[]>([])
  #lastId = 0
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>()

  get list(): readonly Toast[] {
    return this.#list
  }

  show(toast: Omit<Toast, 'id'>): number {
    const id = (this.#lastId += 1)
    this.#list = [...this.#list.slice(-3), { ...toast, id }]
    this.resume(id)
    return id
  }

  done(text: string, action?: Toast['action']): void {
    this.show({ tone: 'good', text, action })
  }

  failed(error: EngineError): void {
    this.show({ tone: 'bad', text: error.message })
  }

  /** Says `text` when it worked and why when it did not. */
  async tell<T>(work: Promise<Result<T>>, text: string, action?: Toast['action']): Promise<Result<T>> {
    const result = await work
    if (result.ok) this.done(text, action)
    else this.failed(result.error)
    return result
  }

  dismiss(id: number): void {
    this.hold(id)
    this.#list = this.#list.filter((toast) => toast.id !== id)
  }

  /** While the pointer or the focus is on it. */
  hold(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  resume(id: number): void {
    const toast = this.#list.find((candidate) => candidate.id === id)
    if (!toast || this.#timers.has(id)) return
    const isLong = toast.tone === 'bad' || toast.action !== undefined
    this.#timers.set(
      id,
      setTimeout(() => this.dismiss(id), isLong ? LONG_MS : SHORT_MS),
    )
  }
}
