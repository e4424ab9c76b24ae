import type { Json, JsonObject } from '#engine/model/json.ts'

/** What the engine wrote down about a question, as far as it is there. Details are JSON: nothing about them is certain. */
export interface Evidence {
  tool: string | null
  title: string | null
  params: Json | undefined
  whereToCheck: string | null
  attemptedAt: number | null
  idempotencyKey: string | null
  phase: string | null
  line: number | null
  column: number | null
  stack: string | null
  neededPermissions: string[]
  /** Message ids by topic. */
  events: { topic: string; ids: string[] }[]
}

export function readEvidence(details: JsonObject): Evidence {
  return {
    tool: textOf(details['tool']),
    title: textOf(details['title']),
    params: details['params'],
    whereToCheck: textOf(details['whereToCheck']),
    attemptedAt: numberOf(details['attemptedAt']),
    idempotencyKey: textOf(details['idempotencyKey']),
    phase: textOf(details['phase']),
    line: numberOf(details['line']),
    column: numberOf(details['column']),
    stack: textOf(details['stack']),
    neededPermissions: textsOf(details['neededPermissions']),
    events: eventsOf(details['events']),
  }
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)
const numberOf = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null)
const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

const eventsOf = (value: Json | undefined): Evidence['events'] =>
  !Array.isArray(value)
    ? []
    : value.flatMap((entry) => {
        if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return []
        const topic = textOf(entry['topic'])
        return topic === null ? [] : [{ topic, ids: textsOf(entry['ids']) }]
      })
