import type { AttemptDetail, AttemptOutline, RunOutline } from '#worker/api.ts'
import type { App } from '../app-context.ts'
import type { LiveQuery } from '../client/live-query.svelte.ts'
import { ganttRows, type GanttRow } from '../features/runs/gantt-rows.ts'

/** The run page: the outline of all attempts, and everything about the one that is looked at. */
export class RunState {
  readonly outline: LiveQuery<RunOutline>
  readonly #app: App
  readonly #rows = $derived.by(() => ganttRows(this.outline.value?.attempts ?? []))
  readonly #selectedId = $derived.by(() => this.#app.router.query('attempt') || mostInteresting(this.outline.value))
  readonly #attempt = $derived.by(() => this.#readAttempt(this.#selectedId))

  constructor(app: App, runId: string) {
    this.#app = app
    this.outline = app.live(['script_runs', 'handler_runs', 'escalations'], (engine) => engine.getRunOutline(runId))
  }

  get rows(): GanttRow[] {
    return this.#rows
  }

  /** Empty while there is no attempt. */
  get selectedId(): string {
    return this.#selectedId
  }

  get attempt(): LiveQuery<AttemptDetail> | null {
    return this.#attempt
  }

  /** All attempts of the chain that the selected one belongs to. */
  get chain(): AttemptOutline[] {
    return this.#rows.find(({ attempts }) => attempts.some(({ id }) => id === this.#selectedId))?.attempts ?? []
  }

  #readAttempt(id: string): LiveQuery<AttemptDetail> | null {
    const tables = ['handler_runs', 'mutations', 'logs', 'events', 'escalations']
    return id === '' ? null : this.#app.live(tables, (engine) => engine.getAttempt(id))
  }

  select(attemptId: string): void {
    this.#app.router.setQuery({ attempt: attemptId })
  }
}

/** What waits for a person, then what is running, then what came last. */
function mostInteresting(outline: RunOutline | undefined): string {
  if (!outline) return ''
  const { attempts, openEscalations } = outline
  const active = attempts.find(({ status }) => status === 'active')
  return openEscalations[0]?.handlerRunId ?? active?.id ?? attempts.at(-1)?.id ?? ''
}
