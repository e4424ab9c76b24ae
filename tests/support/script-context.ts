import type { Json } from '#engine/model/json.ts'
import type { Tools } from '#engine/ports/tools.ts'
import { toolCall } from './call-tool.ts'

/** A `ctx` that does what the engine does with each call, in the same order, for one script. */
export function createScriptContext(tools: Tools, granted: readonly string[]): unknown {
  const perform = async (op: string, args: Json[]): Promise<Json | undefined> => {
    const dot = op.indexOf('.')
    const method = tools.find(op.slice(0, dot), op.slice(dot + 1))
    if (!method) throw new Error(`ctx.${op} does not exist`)
    const params = method.parse(JSON.parse(JSON.stringify(args)) as Json[])
    if (!params.ok) throw new Error(params.error)
    const missing = method
      .permissionsFor(params.value)
      .find((needed) => !granted.some((one) => tools.covers(one, needed)))
    if (missing !== undefined) throw new Error(`${op} needs ${missing}`)
    const outcome = await method.call(
      params.value,
      toolCall({ idempotencyKey: method.kind === 'mutation' ? 'key' : null }),
    )
    if (outcome.kind === 'failed') throw new Error(outcome.failure.message)
    return outcome.value
  }
  const at = (path: readonly string[]): unknown =>
    new Proxy(() => undefined, {
      get: (_target, name) => at([...path, String(name)]),
      apply: (_target, _this, args: Json[]) => perform(path.join('.'), args),
    })
  return at([])
}
