import type { Expression, ObjectExpression, Property, SpreadElement } from 'acorn'
import type { FunctionBody } from './module-form.ts'

/** `const a = b, b = a` and the like must come to an end. */
const MAX_HOPS = 50

interface Part {
  /** Where the part is named: its key, its element in a list. */
  start: number
  value: Expression
}

/**
 * The workflow object as it is written. Names at the top level, spreads and functions around an object are followed; what is
 * computed is not known.
 */
export interface WorkflowLiteral {
  /** The part at a path, or the nearest part around it. */
  find(path: readonly string[]): { start: number }
  /** The object that is written at exactly this path. */
  objectAt(path: readonly string[]): ObjectExpression | undefined
}

export function createWorkflowLiteral({ workflow, bindings, aliases }: FunctionBody): WorkflowLiteral {
  const root: Part | undefined = workflow && { start: workflow.start, value: workflow }
  const isAgent = workflow !== undefined && isMadeBy('defineAgent', workflow)

  function standsFor(expression: Expression): Expression | undefined {
    if (expression.type === 'ParenthesizedExpression') return expression.expression
    if (expression.type === 'Identifier') return bindings.get(expression.name)
    // defineWorkflow, defineAgent, Object.freeze, a function of the user's own: all take the object first.
    if (expression.type !== 'CallExpression') return undefined
    const first = expression.arguments[0]
    return first?.type === 'SpreadElement' ? undefined : first
  }

  function* readings(expression: Expression): Generator<Expression> {
    let current: Expression | undefined = expression
    for (let hop = 0; current !== undefined && hop < MAX_HOPS; hop += 1) {
      yield current
      current = standsFor(current)
    }
  }

  const resolve = (expression: Expression): Expression => [...readings(expression)].at(-1) ?? expression

  function isMadeBy(name: string, expression: Expression): boolean {
    const calls = [...readings(expression)].flatMap((item) => (item.type === 'CallExpression' ? [item.callee] : []))
    return calls.some((callee) => callee.type === 'Identifier' && (aliases.get(callee.name) ?? callee.name) === name)
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

  /** The parts along a path, as far as they are written. */
  function trail(path: readonly string[]): Part[] {
    const parts = root ? [root] : []
    for (const key of path) {
      const last = parts.at(-1)
      const part = last && findPart(resolve(last.value), key)
      if (part === undefined) break
      parts.push(part)
    }
    return parts
  }

  /** An agent's consumer is written as the agent itself. */
  const written = (path: readonly string[]): readonly string[] =>
    isAgent && path[0] === 'consumers' ? path.slice(2) : path

  return {
    find: (path) => trail(written(path)).at(-1) ?? { start: 0 },
    objectAt(path) {
      const parts = trail(path)
      const value = parts.length === path.length + 1 ? parts.at(-1)?.value : undefined
      const object = value && resolve(value)
      return object?.type === 'ObjectExpression' ? object : undefined
    },
  }
}

export function keyOf({ key, computed }: Property): string | undefined {
  if (key.type === 'Literal') return String(key.value)
  return key.type === 'Identifier' && !computed ? key.name : undefined
}
