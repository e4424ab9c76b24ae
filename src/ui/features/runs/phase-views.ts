import type { Phase } from '#engine/model/handler-run.ts'
import type { JsonText } from '#engine/model/json.ts'
import type { LogLine } from '#engine/model/log.ts'
import type { Mutation } from '#engine/model/mutation.ts'
import type { AttemptDetail, EventRow } from '#worker/api.ts'
import { plural } from '../../kit/number-words.ts'
import type { PhaseSpan } from './gantt-rows.ts'
import { splitLogs, type ToolCallView } from './tool-calls.ts'

/** One phase of an attempt as a person looks at it: what went in, what it did, what came out. */
export interface PhaseView extends PhaseSpan {
  inputWord: string
  input: JsonText | null
  outputWord: string
  output: JsonText | null
  calls: ToolCallView[]
  words: LogLine[]
  mutation: Mutation | null
  reserved: EventRow[]
  published: EventRow[]
  summary: string
  isOpen: boolean
  isEmpty: boolean
}

/** Phases in which the script runs; the steps between are moments of saving and have nothing to show. */
const SHOWN: readonly Phase[] = ['executing', 'preparing', 'mutating', 'emitting']

export function phaseViews(attempt: AttemptDetail, spans: readonly PhaseSpan[]): PhaseView[] {
  return spans.filter(({ phase }) => SHOWN.includes(phase)).map((span) => phaseView(attempt, span))
}

function phaseView(attempt: AttemptDetail, span: PhaseSpan): PhaseView {
  const { phase } = span
  const { calls, words } = splitLogs(attempt.logs.filter((line) => line.phase === phase))
  const mutation = phase === 'mutating' ? attempt.mutation : null
  const reserved = phase === 'preparing' ? attempt.reserved : []
  const published = phase === 'executing' || phase === 'emitting' ? attempt.published : []
  const [inputWord, input] = inputOf(attempt, phase)
  const [outputWord, output] = outputOf(attempt, phase)
  const isEmpty =
    input === null &&
    output === null &&
    mutation === null &&
    [calls, words, reserved, published].every(({ length }) => length === 0)
  const parts = [
    calls.length > 0 ? plural(calls.length, 'call') : '',
    mutation === null ? '' : `${mutation.toolNamespace}.${mutation.toolMethod}`,
    words.length > 0 ? plural(words.length, 'log line') : '',
    reserved.length > 0 ? `${plural(reserved.length, 'event')} reserved` : '',
    published.length > 0 ? `${plural(published.length, 'event')} published` : '',
  ]
  const isOpen = phase === attempt.phase || phase === 'mutating'
  const summary = parts.filter((part) => part !== '').join(' · ')
  return {
    ...span,
    inputWord,
    input,
    outputWord,
    output,
    calls,
    words,
    mutation,
    reserved,
    published,
    summary,
    isOpen,
    isEmpty,
  }
}

function inputOf(attempt: AttemptDetail, phase: Phase): [string, JsonText | null] {
  if (phase === 'executing' || phase === 'preparing') return ['State before', attempt.inputState]
  if (phase === 'emitting') {
    const { mutationOutcome, mutationResult } = attempt
    if (mutationOutcome === null) return ['', null]
    const result = mutationResult === null ? '' : `,"result":${mutationResult}`
    return ['What next was told about the mutation', `{"status":"${mutationOutcome}"${result}}`]
  }
  return ['', null]
}

function outputOf(attempt: AttemptDetail, phase: Phase): [string, JsonText | null] {
  if (phase === 'preparing') return ['Prepare returned', attempt.prepareResult]
  if (phase === 'executing' || phase === 'emitting') return ['State after', attempt.outputState]
  return ['', null]
}
