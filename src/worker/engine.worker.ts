import { expose } from 'comlink'
import type { EngineApi } from './api.ts'
import { openEngine } from './open-engine.ts'

const opening = openEngine()

/** Each method waits for the engine to be open; if it cannot be opened, each answers why. */
const api = new Proxy({} as EngineApi, {
  get: (_, method) =>
    typeof method === 'string' && method !== 'then'
      ? async (...args: unknown[]) => {
          const engine = await opening
          if (!engine.ok) return engine
          return (engine.value.api as unknown as Record<string, (...args: unknown[]) => unknown>)[method]?.(...args)
        }
      : undefined,
})

// In the first tick: a message that reaches a module worker during a top-level await is lost.
expose(api)
