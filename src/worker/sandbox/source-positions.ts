import type { SourcePosition } from '#engine/model/errors.ts'
import type { ScriptProblem } from '#engine/ports/sandbox.ts'
import { positionAt, problemAt } from './script-text.ts'
import { keyOf, type WorkflowLiteral } from './workflow-literal.ts'

/** Where a part of the workflow is written; the nearest part around it when it is not written out. */
export const createPositions =
  (code: string, literal: WorkflowLiteral) =>
  (path: readonly string[]): SourcePosition =>
    positionAt(code, literal.find(path).start)

/** JavaScript takes the last of two equal keys and says nothing: a handler or topic would be lost unseen. */
export function duplicateKeys(code: string, literal: WorkflowLiteral): ScriptProblem[] {
  const groups = ['topics', 'producers', 'consumers'].map((group) => [group])
  const handlers = groups.slice(1).flatMap((group) => keysAt(literal, group).map(({ key }) => [...group, key]))
  const repeated = [[], ...groups, ...unique(handlers)].flatMap((path) => {
    const seen = new Set<string>()
    return keysAt(literal, path).filter(({ key }) => seen.size === seen.add(key).size)
  })
  return unique(repeated).map(({ key, start }) =>
    problemAt(
      code,
      start,
      `${JSON.stringify(key)} is written twice here; only the last one counts. Rename or remove one.`,
    ),
  )
}

function keysAt(literal: WorkflowLiteral, path: readonly string[]): { key: string; start: number }[] {
  return (literal.objectAt(path)?.properties ?? []).flatMap((property) => {
    if (property.type !== 'Property' || property.kind !== 'init') return []
    const key = keyOf(property)
    return key === undefined ? [] : [{ key, start: property.start }]
  })
}

/** Two handlers may be the same object. */
const unique = <T>(items: readonly T[]): T[] => [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
