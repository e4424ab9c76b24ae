import type { HandlerRun } from '../../model/handler-run.ts'
import type { Workflow } from '../../model/workflow.ts'

/**
 * Writes what was waited for. Synchronous, and repeatable: it may have to be done again after a group of transitions was rolled
 * back, so whatever it does, it does through transitions. It may find that there is more to wait for.
 */
export type Settle = () => Later | undefined

/** Something to wait for. It begins only when everything before it is committed. */
export type Later = () => Promise<Settle>

/** Done, and the row is to be looked at again, unless there is something to wait for. */
export type Step = (run: HandlerRun, workflow: Workflow) => Later | undefined
