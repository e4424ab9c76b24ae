import { eventStatuses } from '#engine/model/event.ts'
import type { EventQuery, EventRow } from '#worker/api.ts'
import type { App } from '../app-context.ts'
import { PagedList } from './paged-list.svelte.ts'

/** The topic browser: what the address filters by, and the page in sight. */
export class EventsState {
  readonly #app: App
  readonly #workflowId: string
  /** A text, because the address also says which event is looked at: that must not load the list anew. */
  readonly #filter = $derived.by(() => JSON.stringify(this.#readFilter()))
  readonly #list = $derived.by(() => this.#listOf(JSON.parse(this.#filter) as EventQuery))

  constructor(app: App, workflowId: string) {
    this.#app = app
    this.#workflowId = workflowId
  }

  get list(): PagedList<EventRow> {
    return this.#list
  }

  get isFiltered(): boolean {
    return ['topic', 'status', 'text'].some((name) => this.#app.router.query(name) !== '')
  }

  #readFilter(): EventQuery {
    const { router } = this.#app
    const topic = router.query('topic')
    const text = router.query('text').trim()
    const status = eventStatuses.find((member) => member === router.query('status'))
    return {
      workflowId: this.#workflowId,
      ...(topic !== '' && { topic }),
      ...(text !== '' && { text }),
      ...(status !== undefined && { status }),
    }
  }

  #listOf(filter: EventQuery): PagedList<EventRow> {
    const { changes, engine } = this.#app
    return new PagedList(changes, ['events'], (page) => engine.listEvents({ ...filter, ...page }))
  }
}
