import type { RunResult, RunTrigger } from '#engine/model/script-run.ts'
import { runResults, runTriggers } from '#engine/model/script-run.ts'
import type { RunQuery, RunRow } from '#worker/api.ts'
import type { App } from '../app-context.ts'
import { PagedList } from './paged-list.svelte.ts'

export const timeWindows = { '': null, '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 } as const
export type TimeWindow = keyof typeof timeWindows

/** The list of runs: what the address filters by, the page in sight, and what was chosen for a common action. */
export class RunsState {
  readonly #app: App
  readonly #workflowId: string
  #chosen = $state.raw<ReadonlySet<string>>(new Set())
  readonly #filter = $derived.by(() => this.#readFilter())
  readonly #list = $derived.by(() => this.#listOf(this.#filter))

  constructor(app: App, workflowId: string) {
    this.#app = app
    this.#workflowId = workflowId
  }

  get list(): PagedList<RunRow> {
    return this.#list
  }

  get isFiltered(): boolean {
    return ['result', 'handler', 'trigger', 'time', 'text'].some((name) => this.#app.router.query(name) !== '')
  }

  get chosen(): ReadonlySet<string> {
    return this.#chosen
  }

  get chosenRows(): RunRow[] {
    return this.#list.rows.filter(({ id }) => this.#chosen.has(id))
  }

  choose(ids: ReadonlySet<string>): void {
    this.#chosen = ids
  }

  #readFilter(): RunQuery {
    const { router } = this.#app
    const result = memberOf<RunResult | 'open'>(['open', ...runResults], router.query('result'))
    const trigger = memberOf<RunTrigger>(runTriggers, router.query('trigger'))
    const handler = router.query('handler')
    const text = router.query('text').trim()
    const windowMs = timeWindows[router.query('time') as TimeWindow] ?? null
    return {
      workflowId: this.#workflowId,
      ...(result !== undefined && { result }),
      ...(trigger !== undefined && { trigger }),
      ...(handler !== '' && { handler }),
      ...(text !== '' && { text }),
      ...(windowMs !== null && { from: Date.now() - windowMs }),
    }
  }

  #listOf(filter: RunQuery): PagedList<RunRow> {
    const { changes, engine } = this.#app
    return new PagedList(changes, ['script_runs', 'escalations'], (page) => engine.listRuns({ ...filter, ...page }))
  }
}

const memberOf = <T extends string>(members: readonly T[], value: string): T | undefined =>
  members.find((member) => member === value)
