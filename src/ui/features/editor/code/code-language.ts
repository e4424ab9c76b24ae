import { javascript } from '@codemirror/lang-javascript'
import type { Extension } from '@codemirror/state'

/** What scripts are written in: for colours, indents and folds. */
export const codeLanguage: Extension = javascript({ typescript: true })
