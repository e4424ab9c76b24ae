import type { Json } from '#engine/model/json.ts'
import type { DoubtfulCall, ToolCall, ToolMethod, ToolOutcome, Tools } from '#engine/ports/tools.ts'

export const toolCall = (over: Partial<DoubtfulCall> = {}): DoubtfulCall => ({
  workflowId: 'wf_1',
  handlerRunId: 'hr_1',
  idempotencyKey: null,
  attemptedAt: Number.MAX_SAFE_INTEGER,
  signal: new AbortController().signal,
  ...over,
})

/** Finds the method as the engine does; an unknown one is a mistake in the test. */
export function methodOf(tools: Pick<Tools, 'find'>, op: string): ToolMethod {
  const dot = op.indexOf('.')
  const method = tools.find(op.slice(0, dot), op.slice(dot + 1))
  if (!method) throw new Error(`There is no ${op}`)
  return method
}

/** As the engine does it: check the arguments, write them down as JSON, then call with what was written. */
export function paramsOf(tools: Pick<Tools, 'find'>, op: string, ...args: Json[]): Json {
  const parsed = methodOf(tools, op).parse(args)
  if (!parsed.ok) throw new Error(parsed.error)
  return JSON.parse(JSON.stringify(parsed.value)) as Json
}

export function callTool(
  tools: Pick<Tools, 'find'>,
  op: string,
  args: Json[],
  over: Partial<ToolCall> = {},
): Promise<ToolOutcome> {
  return methodOf(tools, op).call(paramsOf(tools, op, ...args), toolCall(over))
}

/** The value of a call that must succeed. */
export async function valueOf(
  tools: Pick<Tools, 'find'>,
  op: string,
  args: Json[],
  over: Partial<ToolCall> = {},
): Promise<Json> {
  const outcome = await callTool(tools, op, args, over)
  if (outcome.kind === 'failed') throw new Error(`${op} failed: ${outcome.failure.message}`)
  return outcome.value ?? null
}
