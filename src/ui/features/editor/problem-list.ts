import { forEachDiagnostic, type Diagnostic } from '@codemirror/lint'
import type { EditorState } from '@codemirror/state'

export interface ListedProblem {
  from: number
  line: number
  severity: Diagnostic['severity']
  message: string
  source: string
}

/** Everything that is underlined, in the order of the text. */
export function listProblems(state: EditorState): ListedProblem[] {
  const problems: ListedProblem[] = []
  forEachDiagnostic(state, ({ severity, message, source = '' }, from) =>
    problems.push({ from, line: state.doc.lineAt(from).number, severity, message, source }),
  )
  return problems
}
