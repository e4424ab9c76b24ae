import { expose } from 'comlink'
import type { EngineApi } from './api.ts'
import { openEngine } from './open-engine.ts'

const opening = openEngine()

const api: EngineApi = {
  async engineInfo() {
    const engine = await opening
    return engine.ok ? engine.value.engineInfo() : engine
  },
}

// In the first tick: a message that reaches a module worker during a top-level await is lost.
expose(api)
