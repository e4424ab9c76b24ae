import { EngineBug } from '../model/errors.ts'
import type { WorkflowConfig } from '../model/workflow.ts'
import { parseWorkflowConfig } from '../script/config.ts'
import type { EnginePorts } from './ports.ts'

export interface LoadedScript {
  version: number
  code: string
  config: WorkflowConfig
}

export interface ScriptLoader {
  /** A version never changes, so it is compiled once. */
  load(scriptId: string): Promise<LoadedScript>
  /** Undefined when it has to be loaded first. */
  atHand(scriptId: string): LoadedScript | undefined
}

interface Loading {
  done: Promise<LoadedScript>
  script?: LoadedScript
}

const keptScripts = 256

export const createScriptLoader = ({ store, sandbox }: Pick<EnginePorts, 'store' | 'sandbox'>): ScriptLoader => {
  const loading = new Map<string, Loading>()

  const compile = async (scriptId: string): Promise<LoadedScript> => {
    const script = store.scripts.get(scriptId)
    if (script === undefined) throw new EngineBug(`Script ${scriptId} is gone.`)
    const compiled = await sandbox.compile(script.source)
    if (!compiled.ok) throw new EngineBug(`Script ${scriptId} was deployed but does not compile.`)
    return { version: script.version, code: compiled.value.code, config: parseWorkflowConfig(script.config) }
  }

  const load = (scriptId: string): Promise<LoadedScript> => {
    const known = loading.get(scriptId)
    if (known !== undefined) return known.done
    const started: Loading = { done: compile(scriptId) }
    loading.set(scriptId, started)
    started.done.then(
      (script) => (started.script = script),
      () => loading.delete(scriptId),
    )
    const oldest = loading.keys().next()
    if (loading.size > keptScripts && oldest.done !== true) loading.delete(oldest.value)
    return started.done
  }

  return { load, atHand: (scriptId) => loading.get(scriptId)?.script }
}
