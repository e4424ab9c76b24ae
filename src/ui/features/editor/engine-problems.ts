import { linter, type Diagnostic } from '@codemirror/lint'
import type { Extension, Text } from '@codemirror/state'
import type { EngineApi, ScriptCheck, ScriptProblemView } from '#worker/api.ts'

const TYPING_PAUSE_MS = 500

/** What the engine itself would say to this script, at its place. */
export const engineProblems = (engine: EngineApi, onchecked: (check: ScriptCheck) => void): Extension =>
  linter(
    async (view) => {
      const { doc } = view.state
      const checked = await engine.checkScript(doc.toString())
      if (!checked.ok) return []
      if (view.state.doc === doc) onchecked(checked.value)
      return checked.value.problems.map((problem) => problemToDiagnostic(doc, problem))
    },
    { delay: TYPING_PAUSE_MS },
  )

/** The engine names the place where something begins; what is underlined is the word there. */
function problemToDiagnostic(doc: Text, { severity, message, line, column }: ScriptProblemView): Diagnostic {
  const from = offsetOf(doc, line, column)
  const word = /^(?:[\w$]+|'[^']*'|"[^"]*"|\S)/.exec(doc.sliceString(from, doc.lineAt(from).to))?.[0] ?? ''
  return { from, to: from + word.length, severity, message, source: 'Holdfast' }
}

/** Lines and columns count from one; one that is not there becomes the nearest that is. */
export function offsetOf(doc: Text, line: number, column: number): number {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Math.min(at.from + Math.max(column, 1) - 1, at.to)
}
