import type { JsonText } from './json.ts'
import type { Phase } from './handler-run.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** A line of the run log: what the script said, or a tool call the host made for it. */
export interface LogLine {
  at: number
  phase: Phase
  level: LogLevel
  message: string
  /** For tool calls: what was asked and how it ended. */
  data: JsonText | null
}
