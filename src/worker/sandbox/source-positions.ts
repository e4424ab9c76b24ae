import type { Expression, ObjectExpression, SpreadElement } from 'acorn'
import type { SourcePosition } from '#engine/model/errors.ts'
import type { FunctionBody } from './module-form.ts'
import { positionAt } from './script-text.ts'

/** `const a = b, b = a` and the like must come to an end. */
const MAX_HOPS = 50

interface Part {
  /** Where the part is named: its key, its element in a list. */
  start: number
  value: Expression
}

/**
 * Where the parts of the workflow object are written. Follows names at the top level, spreads and the authoring functions;
 * what is computed has the position of the nearest part around it.
 */
export function createPositions({
  code,
  workflow,
  bindings,
  aliases,
}: FunctionBody): (path: readonly string[]) => SourcePosition {
  function resolve(expression: Expression): Expression {
    let current = expression
    for (let hop = 0; hop < MAX_HOPS; hop += 1) {
      const next = standsFor(current)
      if (next === undefined) break
      current = next
    }
    return current
  }

  function standsFor(expression: Expression): Expression | undefined {
    if (expression.type === 'ParenthesizedExpression') return expression.expression
    if (expression.type === 'Identifier') return bindings.get(expression.name)
    // defineWorkflow, defineAgent, Object.freeze, a function of the user's own: all take the object first.
    if (expression.type !== 'CallExpression') return undefined
    const first = expression.arguments[0]
    return first?.type === 'SpreadElement' ? undefined : first
  }

  function findPart(container: Expression, key: string): Part | undefined {
    if (container.type === 'ObjectExpression') return findProperty(container, key, 0)
    if (container.type !== 'ArrayExpression') return undefined
    const elements = container.elements.slice(0, Number(key) + 1)
    const element = elements.at(-1)
    const isCounted = elements.length === Number(key) + 1 && elements.every((item) => item?.type !== 'SpreadElement')
    return isCounted && element ? { start: element.start, value: element as Expression } : undefined
  }

  function findProperty(object: ObjectExpression, key: string, depth: number): Part | undefined {
    // The last one wins, as when the object is made.
    for (const property of object.properties.toReversed()) {
      const part = property.type === 'SpreadElement' ? findSpread(property, key, depth) : undefined
      if (part !== undefined) return part
      if (property.type === 'Property' && keyOf(property) === key)
        return { start: property.start, value: property.value }
    }
    return undefined
  }

  function findSpread(spread: SpreadElement, key: string, depth: number): Part | undefined {
    const target = resolve(spread.argument)
    return target.type === 'ObjectExpression' && depth < MAX_HOPS ? findProperty(target, key, depth + 1) : undefined
  }

  const isAgent = workflow !== undefined && callsDefineAgent(workflow, bindings, aliases)

  return (path) => {
    if (workflow === undefined) return { line: 1, column: 1 }
    let part: Part | undefined = { start: workflow.start, value: workflow }
    let start = workflow.start
    for (const key of isAgent ? agentPath(path) : path) {
      part = findPart(resolve(part.value), key)
      if (part === undefined) break
      start = part.start
    }
    return positionAt(code, start)
  }
}

function keyOf(property: Extract<ObjectExpression['properties'][number], { type: 'Property' }>): string | undefined {
  const { key, computed } = property
  if (key.type === 'Literal') return String(key.value)
  return key.type === 'Identifier' && !computed ? key.name : undefined
}

function callsDefineAgent(
  workflow: Expression,
  bindings: FunctionBody['bindings'],
  aliases: FunctionBody['aliases'],
): boolean {
  let current: Expression | undefined = workflow
  for (let hop = 0; current !== undefined && hop < MAX_HOPS; hop += 1) {
    if (current.type === 'ParenthesizedExpression') current = current.expression
    else if (current.type === 'Identifier') current = bindings.get(current.name)
    else if (current.type === 'CallExpression' && current.callee.type === 'Identifier')
      return (aliases.get(current.callee.name) ?? current.callee.name) === 'defineAgent'
    else return false
  }
  return false
}

/** An agent's consumer is written as the agent itself. */
const agentPath = (path: readonly string[]): readonly string[] => (path[0] === 'consumers' ? path.slice(2) : path)
