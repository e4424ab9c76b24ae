import type { EventStatus } from '../model/event.ts'
import type { RunStatus } from '../model/handler-run.ts'
import type { MutationStatus } from '../model/mutation.ts'
import type { RunResult } from '../model/script-run.ts'
import type { WorkflowStatus } from '../model/workflow.ts'
import type { MoveTable } from './move-table.ts'

export type StatusEvent =
  | 'committed'
  | 'failed_transiently'
  | 'approval_needed'
  | 'outcome_lost'
  | 'outcome_settled'
  | 'check_begun'
  | 'script_failed'
  | 'engine_failed'
  | 'crashed'
  | 'cancelled'

/**
 * A row that stopped stays as it stopped: what goes on is a new row whose `retry_of` names it. The one way back to `active` is
 * a question that was answered: the attempt was not over, it was waiting.
 */
export const statusTable: MoveTable<RunStatus, StatusEvent> = {
  subject: 'A handler run',
  events: [
    'committed',
    'failed_transiently',
    'approval_needed',
    'outcome_lost',
    'outcome_settled',
    'check_begun',
    'script_failed',
    'engine_failed',
    'crashed',
    'cancelled',
  ],
  moves: {
    active: {
      committed: 'committed',
      failed_transiently: 'paused:transient',
      approval_needed: 'paused:approval',
      outcome_lost: 'paused:reconciliation',
      script_failed: 'failed:logic',
      engine_failed: 'failed:internal',
      crashed: 'crashed',
      cancelled: 'cancelled',
    },
    'paused:transient': { cancelled: 'cancelled' },
    'paused:approval': { cancelled: 'cancelled' },
    'paused:reconciliation': { outcome_settled: 'active', check_begun: 'active' },
    'failed:logic': {},
    'failed:internal': {},
    crashed: { cancelled: 'cancelled' },
    cancelled: {},
    committed: {},
  },
}

/** What a run (the container) ends with when an attempt in it stops like this; null leaves it open. */
export const runResultOf: Readonly<Record<RunStatus, RunResult | null>> = {
  active: null,
  'paused:transient': 'suspended',
  'paused:approval': 'suspended',
  'paused:reconciliation': 'suspended',
  'failed:logic': 'failed',
  'failed:internal': 'failed',
  crashed: null,
  cancelled: 'cancelled',
  committed: null,
}

export type MutationEvent =
  'sent' | 'refused' | 'succeeded' | 'definitely_failed' | 'outcome_lost' | 'confirmed' | 'denied' | 'left_open'

/** `in_flight` is the only state in which the outside world may be changing, and no state leads back to it. */
export const mutationTable: MoveTable<MutationStatus, MutationEvent> = {
  subject: 'A mutation',
  events: ['sent', 'refused', 'succeeded', 'definitely_failed', 'outcome_lost', 'confirmed', 'denied', 'left_open'],
  moves: {
    pending: { sent: 'in_flight', refused: 'failed' },
    in_flight: { succeeded: 'applied', definitely_failed: 'failed', outcome_lost: 'indeterminate' },
    indeterminate: { confirmed: 'applied', denied: 'failed', left_open: 'indeterminate' },
    applied: {},
    failed: {},
  },
}

export type EventMove = 'reserved' | 'released' | 'consumed' | 'skipped'

export const eventTable: MoveTable<EventStatus, EventMove> = {
  subject: 'An event',
  events: ['reserved', 'released', 'consumed', 'skipped'],
  moves: {
    pending: { reserved: 'reserved', skipped: 'skipped' },
    reserved: { released: 'pending', consumed: 'consumed', skipped: 'skipped' },
    consumed: {},
    skipped: {},
  },
}

export type WorkflowEvent = 'activated' | 'paused' | 'archived' | 'restored'

export const workflowTable: MoveTable<WorkflowStatus, WorkflowEvent> = {
  subject: 'A workflow',
  events: ['activated', 'paused', 'archived', 'restored'],
  moves: {
    draft: { activated: 'active', archived: 'archived' },
    active: { paused: 'paused', archived: 'archived' },
    paused: { activated: 'active', archived: 'archived' },
    archived: { restored: 'paused' },
  },
}
