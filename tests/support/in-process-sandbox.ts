import { failure, type Failure } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import { ok } from '#engine/model/result.ts'
import type { PhaseOutcome, PhaseRequest, Sandbox } from '#engine/ports/sandbox.ts'
import { defineAgentSource } from '#worker/sandbox/prelude/define-agent.ts'

type Handler = (...args: unknown[]) => unknown
interface WorkflowObject {
  producers?: Record<string, { handler: Handler }>
  consumers?: Record<string, { prepare: Handler; mutate?: Handler; next?: Handler }>
}

type Define = (object: unknown) => unknown

// eslint-disable-next-line @typescript-eslint/no-implied-eval -- our own text, the same that the real sandbox evaluates
const evaluateSource = new Function(`return ${defineAgentSource}`) as () => (tools: object) => Define
const defineAgent = evaluateSource()({
  apply: Reflect.apply,
  isObject: (value: unknown) => (typeof value === 'object' && value !== null) || typeof value === 'function',
})

/**
 * The sandbox port without QuickJS: scripts run as plain functions in this process. A thousand times faster and not safe at all,
 * for the simulator only, which needs many lives of trusted scripts rather than one life of a hostile one.
 */
export const createInProcessSandbox = (): Sandbox => {
  const workflowsByCode = new Map<string, WorkflowObject>()

  const evaluate = (code: string): WorkflowObject => {
    const known = workflowsByCode.get(code)
    if (known !== undefined) return known
    const exports: { default?: WorkflowObject } = {}
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- trusted text from the simulator itself
    const run = new Function('exports', 'defineWorkflow', 'defineAgent', code) as (
      exports: object,
      defineWorkflow: Define,
      defineAgent: Define,
    ) => void
    run(exports, (workflow) => workflow, defineAgent)
    const workflow = exports.default ?? {}
    workflowsByCode.set(code, workflow)
    return workflow
  }

  return {
    compile: (source) =>
      Promise.resolve(
        ok({
          code: source.replace(/^export default /m, 'exports.default = '),
          positionOf: () => ({ line: 1, column: 1 }),
        }),
      ),
    describe: (script) => Promise.resolve(ok(toShape(evaluate(script.code)))),
    runPhase: (request) => runPhase(evaluate(request.code), request),
  }
}

const toShape = (value: unknown): Json =>
  JSON.parse(
    JSON.stringify(value, (_key, item: unknown) => (typeof item === 'function' ? { $function: true } : item)),
  ) as Json

/** A failure of the host on its way through the script: catchable, and with its class kept when nobody catches it. */
class HostError extends Error {
  readonly failure: Failure
  constructor(reason: Failure) {
    super(reason.message)
    this.failure = reason
  }
}

const runPhase = async (workflow: WorkflowObject, request: PhaseRequest): Promise<PhaseOutcome> => {
  let end = (): void => undefined
  const ended = new Promise<PhaseOutcome>((resolve) => {
    end = () => resolve({ kind: 'ended' })
  })
  const handler = findHandler(workflow, request)
  const args = request.args.map((text) => JSON.parse(text) as unknown)
  const finished = (async (): Promise<PhaseOutcome> => {
    try {
      const value = await handler?.(
        ...args,
        createContext(request, () => end()),
      )
      return { kind: 'returned', value: value === undefined ? undefined : JSON.stringify(value) }
    } catch (thrown) {
      if (thrown instanceof HostError) return { kind: 'failed', failure: thrown.failure }
      return { kind: 'failed', failure: failure('logic', thrown instanceof Error ? thrown.message : String(thrown)) }
    }
  })()
  return Promise.race([ended, finished])
}

const findHandler = (workflow: WorkflowObject, { phase, handler }: PhaseRequest): Handler | undefined =>
  phase === 'producer' ? workflow.producers?.[handler]?.handler : workflow.consumers?.[handler]?.[phase]

const neverAborted = { aborted: false, addEventListener: () => undefined, removeEventListener: () => undefined }

const createContext = (request: PhaseRequest, end: () => void): Record<string, unknown> => {
  const context: Record<string, unknown> = {
    ...structuredClone(request.values ?? {}),
    now: () => request.host.now(),
    random: () => request.host.random(),
    log: { info: (message: string) => request.host.log('info', message) },
  }
  for (const op of request.operations) {
    const path = op.split('.')
    const name = path.pop() ?? op
    let owner = context
    for (const part of path) owner = (owner[part] ??= {}) as Record<string, unknown>
    owner[name] = async (...args: unknown[]): Promise<unknown> => {
      const reply = await request.host.call(op, JSON.stringify(args), neverAborted)
      if (reply.kind === 'value') return reply.value === undefined ? undefined : (JSON.parse(reply.value) as unknown)
      if (reply.kind === 'error') throw new HostError(reply.failure)
      end()
      return new Promise(() => undefined)
    }
  }
  return context
}
