import type { Json } from '../model/json.ts'
import type { ToolCall, ToolMethod, ToolOutcome } from '../ports/tools.ts'

/** A tool that throws before it has a promise rejects like one that throws later. */
export const callTool = async (method: ToolMethod, params: Json, call: ToolCall): Promise<ToolOutcome> =>
  method.call(params, call)

/** Whole micro-units: a fraction or a negative number must not keep an outcome from being written. */
export const costOf = ({ cost = 0 }: Pick<ToolOutcome, 'cost'>): number => (cost > 0 ? Math.round(cost) : 0)
