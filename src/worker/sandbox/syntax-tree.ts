import type { AnyNode, Program, Token } from 'acorn'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { ScriptProblem } from '#engine/ports/sandbox.ts'
import { syntaxErrorToProblem } from './syntax-problem.ts'

export interface SyntaxTree {
  code: string
  program: Program
}

interface Parsed extends SyntaxTree {
  tokens: Token[]
}

/**
 * The tree of the aligned code if it is the same program as the stripped code, token by token; otherwise of the stripped code,
 * whose columns are less exact. Aligning guesses where a type was taken out, and must not be trusted with the meaning.
 */
export async function parseStripped(code: {
  stripped: string
  aligned: string
}): Promise<Result<SyntaxTree, ScriptProblem>> {
  const { parse } = await import('acorn')
  const parseModule = (text: string): Result<Parsed, ScriptProblem> => {
    const tokens: Token[] = []
    try {
      const program = parse(text, {
        ecmaVersion: 2023,
        sourceType: 'module',
        preserveParens: true,
        onToken: tokens,
      })
      return ok({ code: text, program, tokens })
    } catch (error) {
      return err(syntaxErrorToProblem(error, text))
    }
  }

  const aligned = parseModule(code.aligned)
  if (code.aligned === code.stripped) return aligned
  const stripped = parseModule(code.stripped)
  if (!stripped.ok) return aligned.ok ? stripped : aligned
  return aligned.ok && hasSameTokens(aligned.value, stripped.value) ? aligned : stripped
}

function hasSameTokens(a: Parsed, b: Parsed): boolean {
  return (
    a.tokens.length === b.tokens.length &&
    a.tokens.every((token, index) => {
      const other = b.tokens[index]
      return other !== undefined && a.code.slice(token.start, token.end) === b.code.slice(other.start, other.end)
    })
  )
}

/** Every node, in no particular order. Not recursive: the tree may be as deep as the parser's stack allowed. */
export function* nodesOf(program: Program, goesInto: (node: AnyNode) => boolean = () => true): Generator<AnyNode> {
  const open: unknown[] = [program]
  while (open.length > 0) {
    const item = open.pop()
    if (isNode(item)) yield item
    if (isNode(item) ? goesInto(item) : Array.isArray(item))
      for (const child of Object.values(item as object) as unknown[]) open.push(child)
  }
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
