import type { LogLine } from '#engine/model/log.ts'
import type { Json } from '#engine/model/json.ts'

/** A read that the host made for the script, as its log tells. */
export interface ToolCallView {
  at: number
  op: string
  params: string
  ms: number | null
  /** Null when it went well. */
  error: string | null
}

/** The host writes a line for each tool call, with the call as its data; everything else is the script's own words. */
export function splitLogs(lines: readonly LogLine[]): { calls: ToolCallView[]; words: LogLine[] } {
  const calls: ToolCallView[] = []
  const words: LogLine[] = []
  for (const line of lines) {
    const call = toolCallOf(line)
    if (call) calls.push(call)
    else words.push(line)
  }
  return { calls, words }
}

function toolCallOf(line: LogLine): ToolCallView | null {
  if (line.data === null) return null
  const data = JSON.parse(line.data) as Json
  if (typeof data !== 'object' || data === null || Array.isArray(data) || typeof data['op'] !== 'string') return null
  const { op, params, ms } = data
  return {
    at: line.at,
    op,
    params: JSON.stringify(params ?? null),
    ms: typeof ms === 'number' ? ms : null,
    error: line.message === op ? null : line.message,
  }
}
