import { wrap, type Remote } from 'comlink'
import type { LanguageApi } from './language-api.ts'

let connected: Remote<LanguageApi> | undefined

/** TypeScript is large and slow to start: one worker, started by the first editor, serves all of them. */
export function connectLanguage(): Remote<LanguageApi> {
  connected ??= wrap<LanguageApi>(
    new Worker(new URL('./language.worker.ts', import.meta.url), { type: 'module', name: 'holdfast-language' }),
  )
  return connected
}
