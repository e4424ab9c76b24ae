import { failure } from '#engine/model/errors.ts'
import type { PhaseOutcome, Sandbox } from '#engine/ports/sandbox.ts'
import { createFakePhaseHost, phaseRequest, refuse, value, type FakePhaseHost } from '../../support/phase.ts'
import type { Expected, HostileScript } from './hostile-scripts.ts'

const OPERATIONS = ['echo', 'never', 'fail', 'deep', 'big', 'proto', 'bug', 'send']

/** The other side of the hostile scripts, as hostile as a host can be. */
function createHostileHost(): FakePhaseHost {
  let mutations = 0
  return createFakePhaseHost({
    echo: (args) => value(args),
    never: () => new Promise(() => undefined),
    fail: () => refuse(failure('network', 'no route')),
    deep: () => ({ kind: 'value', value: '['.repeat(100_000) + ']'.repeat(100_000) }),
    big: () => value('x'.repeat(20e6)),
    proto: () => ({ kind: 'value', value: '{"__proto__":{"polluted":true}}' }),
    bug: () => Promise.reject(new Error('out of order')),
    async send() {
      mutations += 1
      await Promise.resolve()
      return mutations > 1 ? refuse(failure('logic', 'a second mutation')) : { kind: 'end' }
    },
  })
}

export interface HostileEnd {
  outcome: PhaseOutcome
  calls: string[]
  /** What came of a phase of another workflow right after it. */
  bystander: PhaseOutcome
}

const BYSTANDER = `
exports.default = { producers: { p: { async handler(state, ctx) {
  const clean = [Object.keys(globalThis), Object.keys(Object.prototype), typeof JSON.parse('{"a":1}'), [1, 2].map(String)]
  return [clean, await ctx.echo('fine'), new Date(0).getTime()]
} } } }`

export async function runHostileScript(sandbox: Sandbox, hostile: HostileScript): Promise<HostileEnd> {
  const { code, phase, handler, args, limits } = hostile
  const host = createHostileHost()
  const outcome = await sandbox.runPhase(
    phaseRequest(code, {
      workflowId: `wf_${hostile.name}`,
      scriptId: `scr_${hostile.name}`,
      operations: OPERATIONS,
      host,
      ...(phase && { phase }),
      ...(handler !== undefined && { handler }),
      ...(args && { args }),
      // Time enough on a busy machine, except where time is the point.
      limits: { cpuMs: 60_000, wallMs: 300_000, ...limits },
    }),
  )
  const bystander = await sandbox.runPhase(
    phaseRequest(BYSTANDER, { scriptId: 'scr_bystander', operations: ['echo'], host: createHostileHost() }),
  )
  return { outcome, calls: host.calls.map(({ op }) => op), bystander }
}

const BYSTANDER_VALUE = '[[[],[],"object",["1","2"]],["fine"],0]'

/** Everything about an end that is not as expected, in words; empty when all is well. */
export function disappointments({ expected, calls }: HostileScript, end: HostileEnd): string[] {
  const wrong: string[] = []
  const seen = JSON.stringify(end.outcome).slice(0, 600)
  if (!isExpected(expected, end.outcome)) wrong.push(`ended as ${seen}`)
  if (calls !== undefined && calls.join() !== end.calls.join()) wrong.push(`asked the host for ${end.calls.join()}`)
  const { bystander } = end
  if (bystander.kind !== 'returned' || bystander.value !== BYSTANDER_VALUE)
    wrong.push(`the next phase of another workflow ended as ${JSON.stringify(bystander)}`)
  return wrong
}

function isExpected(expected: Expected, outcome: PhaseOutcome): boolean {
  if (expected.kind === 'returned')
    return (
      outcome.kind === 'returned' &&
      outcome.value === (expected.value === undefined ? undefined : JSON.stringify(expected.value))
    )
  if (expected.kind === 'ended') return outcome.kind === 'ended'
  return (
    outcome.kind === 'failed' && outcome.failure.type === expected.type && expected.says.test(outcome.failure.message)
  )
}

/** Where a failure may be one of several, both worlds need not agree on which. */
export const outcomeClass = (outcome: PhaseOutcome): string =>
  outcome.kind === 'failed' ? `failed:${outcome.failure.type}` : outcome.kind
