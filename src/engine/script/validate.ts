import { err, ok, type Result } from '../model/result.ts'
import type { Failure } from '../model/errors.ts'
import type { WorkflowConfig } from '../model/workflow.ts'
import type { CompiledScript, Sandbox, ScriptProblem } from '../ports/sandbox.ts'
import { checkShape } from './check-shape.ts'
import type { ShapeProblem } from './shape.ts'

export interface ValidScript {
  config: WorkflowConfig
  code: string
  warnings: ScriptProblem[]
}

/** Everything that is wrong with a script, at once and in the order of its lines; or what the engine needs to know of it. */
export async function validateScript(sandbox: Sandbox, source: string): Promise<Result<ValidScript, ScriptProblem[]>> {
  const compiled = await sandbox.compile(source)
  if (!compiled.ok) return compiled
  const shape = await sandbox.describe(compiled.value)
  if (!shape.ok) return err([failureToProblem(shape.error), ...found(compiled.value)].sort(byPosition))
  const checked = checkShape(shape.value)
  const problems = [...checked.problems.map((problem) => locate(problem, compiled.value)), ...found(compiled.value)]
  problems.sort(byPosition)
  if (problems.some(({ severity }) => severity === 'error')) return err(problems)
  return ok({ config: checked.config, code: compiled.value.code, warnings: problems })
}

const found = ({ problems }: CompiledScript): readonly ScriptProblem[] => problems ?? []

function locate({ severity, message, path }: ShapeProblem, script: CompiledScript): ScriptProblem {
  const { line, column } = script.positionOf(path)
  return { severity, message, line, column: column ?? 1 }
}

/** The top level threw, or did not come to an end. */
const failureToProblem = ({ message, position }: Failure): ScriptProblem => ({
  severity: 'error',
  message: `The script fails while it is loaded. ${message}`,
  line: position?.line ?? 1,
  column: position?.column ?? 1,
})

const byPosition = (a: ScriptProblem, b: ScriptProblem): number => a.line - b.line || a.column - b.column
