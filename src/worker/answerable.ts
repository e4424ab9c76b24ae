import { engineError } from '#engine/model/errors.ts'
import { err } from '#engine/model/result.ts'
import type { EngineApi } from './api.ts'

type Method = (...args: unknown[]) => Promise<unknown>

/**
 * Keeps the promise that every method resolves to a Result: what is thrown in spite of everything is told, not lost. An engine
 * whose database was replaced answers nothing any more; its successor is asked instead, as after the death of a leader.
 */
export const answerable = (api: EngineApi, isGone: () => boolean): EngineApi => {
  const answering =
    (name: string, method: Method): Method =>
    async (...args) => {
      if (isGone()) return new Promise(() => undefined)
      try {
        return await method(...args)
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : String(thrown)
        return err(engineError('internal', `${name} failed inside Holdfast: ${reason}`))
      }
    }
  const methods = Object.entries(api as unknown as Record<string, Method>)
  return Object.fromEntries(methods.map(([name, method]) => [name, answering(name, method)])) as unknown as EngineApi
}
