import type { FailureType } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import type { DoubtfulCall, ReconcileOutcome, ToolCall, ToolOutcome } from '#engine/ports/tools.ts'
import { refused, succeeded, uncertain } from '../outcomes.ts'
import type { Folder, Folders } from './folder.ts'
import { compare, printsOf, type Intent, type Journal, type Prints } from './journal.ts'

/** What is to be done, decided by looking only; nothing has been touched yet. */
export interface Plan {
  before: Prints
  after: Prints
  value: Json
  act: () => Promise<void>
}

/** A plan that cannot be made: the file is not there, or something is in the way. */
export class Impossible extends Error {}

export interface FileMutations {
  /** Opens the folder or says why it cannot be used. */
  withFolder(name: string, work: (folder: Folder) => Promise<ToolOutcome>): Promise<ToolOutcome>
  perform(
    name: string,
    call: ToolCall,
    value: Json,
    plan: (folder: Folder, earlier: Intent | undefined) => Promise<Plan>,
  ): Promise<ToolOutcome>
  reconcile(name: string, call: DoubtfulCall, value: Json): Promise<ReconcileOutcome>
}

const JOURNAL_GONE = 'The browser has thrown away what was noted about this change'

export function createFileMutations(folders: Folders, journal: Journal): FileMutations {
  const withFolder: FileMutations['withFolder'] = async (name, work) => {
    const opened = await folders.open(name)
    switch (opened.kind) {
      case 'open':
        return work(opened.folder)
      case 'missing':
        return refused(
          'auth',
          `No folder "${name}" has been picked. Pick one under Settings, Connections and secrets, then retry.`,
        )
      case 'locked':
        return refused('auth', `The browser wants you to allow the folder "${name}" again. Reconnect it, then retry.`)
    }
  }

  const isDone = async (folder: Folder, intent: Intent) =>
    compare(intent, await printsOf(folder, Object.keys(intent.after))) === 'applied'

  return {
    withFolder,

    perform: (name, call, value, plan) =>
      withFolder(name, async (folder) => {
        if (call.signal.aborted) return refused('network', 'The call was cancelled before anything was written')
        const key = call.idempotencyKey
        const earlier = key === null ? undefined : await journal.find(key)
        if (earlier && (await isDone(folder, earlier))) return succeeded(value)
        let planned: Plan
        try {
          planned = await plan(folder, earlier)
        } catch (error) {
          if (error instanceof Impossible) return refused('logic', error.message)
          return refused(typeOf(error), `The folder "${name}" could not be read: ${String(error)}`)
        }
        const { before, after, act } = planned
        if (key !== null) await journal.record({ key, before, after })
        try {
          await act()
          return succeeded(planned.value)
        } catch (error) {
          return explain(folder, planned, error)
        }
      }),

    async reconcile(name, call, value) {
      const intent = call.idempotencyKey === null ? undefined : await journal.find(call.idempotencyKey)
      // The journal is written first: without an entry nothing was touched, unless it was thrown away since.
      if (!intent) {
        const isOlder = call.attemptedAt < (await journal.begunAt)
        return isOlder ? { kind: 'unknown', message: JOURNAL_GONE } : { kind: 'not_applied' }
      }
      const opened = await folders.open(name)
      if (opened.kind !== 'open') return { kind: 'unknown', message: `The folder "${name}" cannot be opened to look` }
      switch (compare(intent, await printsOf(opened.folder, Object.keys(intent.after)))) {
        case 'applied':
          return { kind: 'applied', value }
        case 'not_applied':
          return { kind: 'not_applied' }
        case 'changed_since':
          return { kind: 'unknown', message: 'The file has been changed by someone else in the meantime' }
      }
    },
  }
}

/** The folder is right here: rather than guess what an error means, look. */
async function explain(folder: Folder, plan: Plan, error: unknown): Promise<ToolOutcome> {
  const message = `The file could not be written: ${String(error)}`
  try {
    switch (compare(plan, await printsOf(folder, Object.keys(plan.after)))) {
      case 'applied':
        return succeeded(plan.value)
      case 'not_applied':
        return refused(typeOf(error), message)
      case 'changed_since':
        return uncertain(typeOf(error), message)
    }
  } catch {
    return uncertain(typeOf(error), message)
  }
}

/** NotAllowedError: the permission for the folder was taken back. Everything else (full disk, file in use) may pass. */
export const typeOf = (error: unknown): FailureType =>
  error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'SecurityError')
    ? 'auth'
    : 'network'
