import { err, ok, type Result } from '#engine/model/result.ts'
import type { CompiledScript, ScriptProblem } from '#engine/ports/sandbox.ts'
import { toFunctionBody } from './module-form.ts'
import { refusedSyntax } from './refused-syntax.ts'
import { createPositions, duplicateKeys } from './source-positions.ts'
import { problemAt } from './script-text.ts'
import { stripTypes } from './strip-types.ts'
import { parseStripped } from './syntax-tree.ts'
import { createWorkflowLiteral } from './workflow-literal.ts'

const MAX_SOURCE_BYTES = 1024 * 1024

/**
 * Makes a script ready to run: a function body in plain JavaScript whose lines and columns are those of the source. The
 * parsers are loaded with the first script.
 */
export async function compileScript(source: string): Promise<Result<CompiledScript, ScriptProblem[]>> {
  const bytes = new TextEncoder().encode(source).length
  if (bytes > MAX_SOURCE_BYTES)
    return err([
      problemAt('', 0, `The script is ${bytes} bytes long; at most ${MAX_SOURCE_BYTES} (1 MiB) are allowed.`),
    ])

  // Editors show neither a byte order mark nor a carriage return as a column.
  const text = source.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const stripped = await stripTypes(text)
  if (!stripped.ok) return err([stripped.error])
  const tree = await parseStripped(stripped.value)
  if (!tree.ok) return err([tree.error])
  const problems = refusedSyntax(tree.value)
  if (problems.length > 0) return err(problems)
  const body = toFunctionBody(tree.value)
  const literal = createWorkflowLiteral(body)
  return ok({
    code: body.code,
    positionOf: createPositions(body.code, literal),
    problems: duplicateKeys(body.code, literal),
  })
}
