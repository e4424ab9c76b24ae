import type { Completions, Explanation, LanguageProblem } from './script-language.ts'

/** Across the worker boundary each question carries its text, so that no answer is about another one. */
export interface LanguageApi {
  problems(text: string): LanguageProblem[]
  complete(text: string, position: number): Completions | null
  describeEntry(text: string, position: number, label: string): Omit<Explanation, 'from' | 'to'> | null
  explain(text: string, position: number): Explanation | null
}
