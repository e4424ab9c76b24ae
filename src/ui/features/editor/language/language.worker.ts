import { expose } from 'comlink'
import ts from 'typescript'
import type { LanguageApi } from './language-api.ts'
import { languageFiles } from './language-files.ts'
import { createScriptLanguage, type ScriptLanguage } from './script-language.ts'

const language = createScriptLanguage(ts, languageFiles)

const about = (text: string): ScriptLanguage => {
  language.setText(text)
  return language
}

expose({
  problems: (text) => about(text).problems(),
  complete: (text, position) => about(text).complete(position),
  describeEntry: (text, position, label) => about(text).describeEntry(position, label),
  explain: (text, position) => about(text).explain(position),
} satisfies LanguageApi)
