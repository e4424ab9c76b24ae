import { autocompletion, completionKeymap, type Completion, type CompletionContext } from '@codemirror/autocomplete'
import { linter, type Diagnostic } from '@codemirror/lint'
import type { Extension } from '@codemirror/state'
import { hoverTooltip, keymap, type EditorView } from '@codemirror/view'
import type { Remote } from 'comlink'
import { connectLanguage } from './connect-language.ts'
import type { LanguageApi } from './language-api.ts'

const TYPING_PAUSE_MS = 350

/** What TypeScript knows: completion, explanations under the pointer, problems as they are typed. */
export function typescriptLanguage(): Extension {
  const language = connectLanguage()
  return [
    autocompletion({ override: [(context) => complete(language, context)], icons: true }),
    keymap.of(completionKeymap),
    hoverTooltip(async (view, position) => {
      const found = await language.explain(view.state.doc.toString(), position)
      if (found === null || found.to > view.state.doc.length) return null
      return { pos: found.from, end: found.to, create: () => ({ dom: explanation(found) }) }
    }),
    linter((view) => problemsOf(language, view), { delay: TYPING_PAUSE_MS }),
  ]
}

async function problemsOf(language: Remote<LanguageApi>, view: EditorView): Promise<Diagnostic[]> {
  const problems = await language.problems(view.state.doc.toString())
  return problems.map((problem) => ({ ...problem, source: 'TypeScript' }))
}

async function complete(language: Remote<LanguageApi>, context: CompletionContext) {
  const { pos, explicit, state } = context
  const before = state.sliceDoc(Math.max(0, pos - 1), pos)
  if (!explicit && !/[\w$.'"`]/.test(before)) return null
  const text = state.doc.toString()
  const found = await language.complete(text, pos)
  if (found === null || context.aborted) return null
  return {
    from: found.from,
    // Behind a dot there is something else to choose from: the list has to be asked for again.
    validFor: /^[\w$]*$/,
    options: found.entries.map((entry): Completion => ({
      ...entry,
      info: async ({ label }) => {
        const details = await language.describeEntry(text, pos, label)
        return details === null ? null : explanation(details)
      },
    })),
  }
}

function explanation({ signature, documentation }: { signature: string; documentation: string }): HTMLElement {
  const box = document.createElement('div')
  box.className = 'cm-explanation'
  const code = document.createElement('code')
  code.textContent = signature
  box.append(code)
  if (documentation !== '') {
    const paragraph = document.createElement('p')
    paragraph.textContent = documentation
    box.append(paragraph)
  }
  return box
}
