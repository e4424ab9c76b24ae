import authoring from '#engine/script/authoring.ts?raw'
import type { LanguageFiles } from './script-language.ts'

const found = import.meta.glob<string>(
  [
    '../../../../../node_modules/typescript/lib/lib.es5.d.ts',
    '../../../../../node_modules/typescript/lib/lib.es20{15,16,17,18,19,20,21,22,23}*.d.ts',
    '../../../../../node_modules/typescript/lib/lib.decorators*.d.ts',
    // These bring the page's own globals, which a script does not have.
    '!**/*.full.d.ts',
  ],
  { query: '?raw', import: 'default', eager: true },
)

export const languageFiles: LanguageFiles = {
  authoring,
  libraries: new Map(Object.entries(found).map(([path, text]) => [path.slice(path.lastIndexOf('/') + 1), text])),
}
