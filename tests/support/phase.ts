import type { Failure } from '#engine/model/errors.ts'
import type { Json, JsonText } from '#engine/model/json.ts'
import type { HostReply, PhaseHost, PhaseOutcome, PhaseRequest } from '#engine/ports/sandbox.ts'

/** A host for phases in tests: answers by operation, and remembers what it was asked. */
export interface FakePhaseHost extends PhaseHost {
  readonly calls: { op: string; args: JsonText }[]
  readonly logs: { level: string; message: string }[]
}

type Answer = (args: Json[], signal: AbortSignal) => HostReply | Promise<HostReply>

export const value = (json: Json): HostReply => ({ kind: 'value', value: JSON.stringify(json) })
export const refuse = (failure: Failure): HostReply => ({ kind: 'error', failure })

export function createFakePhaseHost(answers: Record<string, Answer> = {}): FakePhaseHost {
  const calls: FakePhaseHost['calls'] = []
  const logs: FakePhaseHost['logs'] = []
  let time = 1_700_000_000_000
  let drawn = 0
  return {
    calls,
    logs,
    call: async (op, args, signal) => {
      calls.push({ op, args })
      const answer = answers[op]
      if (answer === undefined) return { kind: 'value', value: undefined }
      return answer(JSON.parse(args) as Json[], signal as AbortSignal)
    },
    log: (level, message) => logs.push({ level, message }),
    now: () => (time += 1_000),
    random: () => (drawn = (drawn + 0.137) % 1),
  }
}

let scripts = 0

/** A request for the producer `p` of a script; `code` is what `compile` would have made. */
export function phaseRequest(code: string, wanted: Partial<PhaseRequest> = {}): PhaseRequest {
  scripts += 1
  return {
    workflowId: 'wf_test',
    scriptId: `scr_${scripts}`,
    code,
    phase: 'producer',
    handler: 'p',
    args: ['null'],
    operations: [],
    host: createFakePhaseHost(),
    ...wanted,
  }
}

/** A script whose producer `p` has this body. */
export const producer = (body: string): string =>
  `exports.default = { producers: { p: { async handler(state, ctx) {${body}} } } }`

/** An outcome as a test wants to see it: the value parsed, the failure by class and words. */
export function summarize(outcome: PhaseOutcome): unknown {
  if (outcome.kind === 'returned') return outcome.value === undefined ? undefined : (JSON.parse(outcome.value) as Json)
  return outcome.kind === 'ended' ? 'ended' : `${outcome.failure.type}: ${outcome.failure.message}`
}
