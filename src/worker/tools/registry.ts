import type { Tools } from '#engine/ports/tools.ts'
import { createDemoWorld, type DemoOptions, type DemoWorld } from './demo/world.ts'
import type { DocumentedMethod } from './define-method.ts'
import { covers } from './permissions.ts'

export interface ToolDeps {
  demo: DemoOptions
}

/** The tools port, with what the editor shows for each method. */
export interface ToolRegistry extends Tools {
  list(): readonly DocumentedMethod[]
  demo: DemoWorld
}

export function createTools(deps: ToolDeps): ToolRegistry {
  const demo = createDemoWorld(deps.demo)
  const methods: readonly DocumentedMethod[] = [...demo.tools]
  const methodsByName = new Map(methods.map((method) => [`${method.namespace}.${method.method}`, method]))
  return {
    find: (namespace, method) => methodsByName.get(`${namespace}.${method}`),
    list: () => methods,
    covers,
    demo,
  }
}
