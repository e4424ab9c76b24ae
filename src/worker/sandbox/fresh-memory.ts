import { err, ok } from '#engine/model/result.ts'
import { loadScript, type CleanMemory } from './clean-memory.ts'
import { createGuest } from './guest.ts'
import { createQuickjsInstance } from './quickjs-instance.ts'

/** A new instance for every phase. Slow, and clean beyond doubt. */
export function createFreshMemory(wasm: WebAssembly.Module): CleanMemory {
  return {
    async lend(script, limits, evaluated) {
      const guest = createGuest(await createQuickjsInstance(wasm))
      const { failure } = loadScript(guest, script, limits)
      evaluated?.()
      return failure === undefined ? ok(guest) : err(failure)
    },
    takeBack: () => undefined,
    tidy: () => undefined,
  }
}
