import type tsModule from 'typescript'
import { phaseAdvice } from './phase-advice.ts'
import { sandboxGlobals } from './sandbox-globals.ts'

export interface LanguageProblem {
  from: number
  to: number
  severity: 'error' | 'warning' | 'info'
  message: string
}

export interface CompletionEntry {
  label: string
  /** One of CodeMirror's icons. */
  type: string
  /** Greater comes first. */
  boost: number
}

export interface Completions {
  /** Where the text begins that an entry replaces. */
  from: number
  entries: CompletionEntry[]
}

export interface Explanation {
  from: number
  to: number
  signature: string
  documentation: string
}

/** The language service over one script. Every question is about the text that was set last. */
export interface ScriptLanguage {
  setText(text: string): void
  problems(): LanguageProblem[]
  complete(position: number): Completions | null
  describeEntry(position: number, label: string): Omit<Explanation, 'from' | 'to'> | null
  explain(position: number): Explanation | null
}

export interface LanguageFiles {
  /** The authoring API: src/engine/script/authoring.ts as text. */
  authoring: string
  /** `lib.es2023.d.ts` and whatever it refers to, by name. */
  libraries: ReadonlyMap<string, string>
}

const SCRIPT = '/script.ts'
const AUTHORING = '/holdfast.ts'
const GLOBALS = '/globals.ts'
const LIBRARY = 'lib.es2023.d.ts'

export function createScriptLanguage(ts: typeof tsModule, { authoring, libraries }: LanguageFiles): ScriptLanguage {
  let text = ''
  let version = 0
  const fixed = new Map([
    [AUTHORING, authoring],
    [GLOBALS, sandboxGlobals],
    ...[...libraries].map(([name, content]) => [`/${name}`, content] as const),
  ])
  const read = (name: string): string | undefined => (name === SCRIPT ? text : fixed.get(name))
  const snapshots = new Map<string, tsModule.IScriptSnapshot>()

  const service = ts.createLanguageService({
    getCompilationSettings: () => compilerOptions(ts),
    getScriptFileNames: () => [GLOBALS, SCRIPT],
    getScriptVersion: (name) => (name === SCRIPT ? String(version) : '1'),
    getScriptSnapshot: (name) => {
      if (name === SCRIPT) return ts.ScriptSnapshot.fromString(text)
      const content = fixed.get(name)
      if (content === undefined) return undefined
      const known = snapshots.get(name) ?? ts.ScriptSnapshot.fromString(content)
      snapshots.set(name, known)
      return known
    },
    getCurrentDirectory: () => '/',
    getDefaultLibFileName: () => `/${LIBRARY}`,
    fileExists: (name) => read(name) !== undefined,
    readFile: read,
  })

  const show = (parts: tsModule.SymbolDisplayPart[] | undefined): string => ts.displayPartsToString(parts)

  return {
    setText: (next) => {
      if (next === text) return
      text = next
      version += 1
    },

    problems: () => {
      // A text that cannot be read is followed by nonsense about everything behind the mistake.
      const unreadable = service.getSyntacticDiagnostics(SCRIPT)
      const diagnostics = unreadable.length > 0 ? unreadable : service.getSemanticDiagnostics(SCRIPT)
      return diagnostics.map(({ start = 0, length = 0, messageText, category }) => ({
        from: start,
        to: start + length,
        severity: SEVERITIES[category],
        message: withAdvice(ts.flattenDiagnosticMessageText(messageText, '\n')),
      }))
    },

    complete: (position) => {
      const found = service.getCompletionsAtPosition(SCRIPT, position, {})
      if (found === undefined) return null
      const entries = found.entries.filter(({ kind }) => kind !== ts.ScriptElementKind.warning)
      return {
        from: found.optionalReplacementSpan?.start ?? entries[0]?.replacementSpan?.start ?? wordStart(text, position),
        entries: entries.map(({ name, kind, sortText }) => ({
          label: name,
          type: ICONS[kind] ?? 'variable',
          // TypeScript sorts by text, "11" before "15"; CodeMirror by a number from 99 down to -99.
          boost: 50 - Math.min(Number.parseInt(sortText, 10) || 0, 100),
        })),
      }
    },

    describeEntry: (position, label) => {
      const details = service.getCompletionEntryDetails(SCRIPT, position, label, {}, undefined, {}, undefined)
      if (details === undefined) return null
      return { signature: show(details.displayParts), documentation: show(details.documentation) }
    },

    explain: (position) => {
      const info = service.getQuickInfoAtPosition(SCRIPT, position)
      if (info === undefined) return null
      const { start, length } = info.textSpan
      return {
        from: start,
        to: start + length,
        signature: show(info.displayParts),
        documentation: show(info.documentation),
      }
    },
  }
}

function withAdvice(message: string): string {
  const advice = phaseAdvice(message)
  return advice === undefined ? message : `${advice}\n${message}`
}

const compilerOptions = (ts: typeof tsModule): tsModule.CompilerOptions => ({
  strict: true,
  // A script may be JavaScript: a parameter without a type is not a mistake.
  noImplicitAny: false,
  noEmit: true,
  lib: [LIBRARY],
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  paths: { holdfast: [AUTHORING] },
  allowUnusedLabels: true,
  allowUnreachableCode: true,
})

/** By the numbers of ts.DiagnosticCategory, which exists only where TypeScript itself is loaded. */
const SEVERITIES: Record<tsModule.DiagnosticCategory, LanguageProblem['severity']> = {
  0: 'warning',
  1: 'error',
  2: 'info',
  3: 'info',
}

const ICONS: Partial<Record<string, string>> = {
  method: 'method',
  function: 'function',
  'local function': 'function',
  property: 'property',
  getter: 'property',
  const: 'constant',
  let: 'variable',
  var: 'variable',
  parameter: 'variable',
  class: 'class',
  interface: 'interface',
  type: 'type',
  keyword: 'keyword',
  string: 'text',
  module: 'namespace',
  alias: 'namespace',
}

function wordStart(text: string, position: number): number {
  let start = position
  while (start > 0 && /[\w$]/.test(text[start - 1] ?? '')) start -= 1
  return start
}
