import type { Json, JsonText } from '#engine/model/json.ts'
import type {
  AbortSignalLike,
  ForeseenAnswer,
  HostReply,
  PhaseHost,
  PhaseOutcome,
  PhaseRequest,
  Sandbox,
} from '#engine/ports/sandbox.ts'
import type { ToolMethod, Tools } from '#engine/ports/tools.ts'

export interface AheadSandbox extends Sandbox {
  takeAtHand(request: PhaseRequest): PhaseOutcome | undefined
  /**
   * The mutation that this workflow waits for is over: `next`, and the `prepare` and `mutate` of the event after it, are run
   * ahead now. Resolves when their results are at hand.
   */
  runAhead(workflowId: string, result: Json): Promise<void>
}

interface AtHand {
  outcome: PhaseOutcome
  at: number
  calls: readonly { op: string; args: JsonText }[]
  lines: readonly { level: string; message: string }[]
  /** What it was shown of a topic. */
  shown: readonly { op: string; args: JsonText; value: JsonText }[]
}

/** As old as a `prepare` may be that is taken. */
const freshMs = 50

const neverAborted: AbortSignalLike = {
  aborted: false,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
}

/** Knows of no `then`: what follows a mutation is always `next`, and after it probably `prepare` and `mutate` of the same handler. */
export const createAheadSandbox = (inner: Sandbox, onTaken: () => void = () => undefined): AheadSandbox => {
  const atHand = new Map<string, Map<string, AtHand>>()
  const lastMutate = new Map<string, PhaseRequest>()
  const lastPrepare = new Map<string, PhaseRequest>()

  const remember = (request: PhaseRequest): void => {
    if (request.values !== undefined) return
    if (request.phase === 'mutate') lastMutate.set(request.workflowId, request)
    if (request.phase === 'prepare') lastPrepare.set(request.workflowId, request)
  }

  /** For real, with a host that only takes notes. Undefined when it asked for what nobody can answer early. */
  const run = async (request: PhaseRequest, foresee: PhaseHost['foresee']): Promise<AtHand | undefined> => {
    const { host: real } = request
    const notes = { calls: [] as AtHand['calls'][number][], lines: [] as AtHand['lines'][number][] }
    const shown: AtHand['shown'][number][] = []
    const unanswered: string[] = []
    const answer = (op: string, args: JsonText): HostReply => {
      const isMutation = request.phase === 'mutate' && request.mutations?.includes(op) === true
      const isPublished = request.phase === 'next' && op === 'topics.publish'
      if (isMutation || isPublished) notes.calls.push({ op, args })
      if (isMutation) return { kind: 'end' }
      if (isPublished) return { kind: 'value', value: undefined }
      const foreseen = foresee?.(op, args)
      if (foreseen === undefined) {
        unanswered.push(op)
        return { kind: 'end' }
      }
      shown.push({ op, args, value: foreseen.value })
      return { kind: 'value', value: foreseen.value }
    }
    const host: PhaseHost = {
      call: (op, args) => Promise.resolve(answer(op, args)),
      log: (level, message) => notes.lines.push({ level, message }),
      now: () => real.now(),
      random: () => real.random(),
    }
    const outcome = await inner.runPhase({ ...request, host })
    if (unanswered.length > 0 || outcome.kind === 'failed') return undefined
    return { outcome, at: real.now(), shown, ...notes }
  }

  const keep = async (request: PhaseRequest, foresee?: PhaseHost['foresee']): Promise<PhaseOutcome | undefined> => {
    const found = await run(request, foresee)
    if (found !== undefined) kept(request.workflowId).set(keyOf(request), found)
    return found?.outcome
  }

  const kept = (workflowId: string): Map<string, AtHand> => {
    const known = atHand.get(workflowId) ?? new Map<string, AtHand>()
    atHand.set(workflowId, known)
    return known
  }

  const runAhead = async (workflowId: string, result: Json): Promise<void> => {
    atHand.delete(workflowId)
    const mutate = lastMutate.get(workflowId)
    const prepare = lastPrepare.get(workflowId)
    if (mutate === undefined || prepare?.handler !== mutate.handler) return
    const done = `{"status":"applied","result":${JSON.stringify(result)}}`
    const next = await keep({ ...mutate, phase: 'next', args: [...mutate.args, done] })
    if (next?.kind !== 'returned') return
    const state = next.value ?? prepare.args[0] ?? 'null'
    const foresee = prepare.host.foresee?.bind(prepare.host)
    const prepared = await keep({ ...prepare, args: [state] }, foresee)
    if (prepared?.kind !== 'returned' || prepared.value === undefined) return
    await keep({ ...mutate, args: [prepared.value] })
  }

  const takeAtHand = (request: PhaseRequest): PhaseOutcome | undefined => {
    remember(request)
    const all = atHand.get(request.workflowId)
    const key = keyOf(request)
    const found = all?.get(key)
    if (all === undefined || found === undefined || request.values !== undefined) return undefined
    all.delete(key)
    if (all.size === 0) atHand.delete(request.workflowId)
    const { host } = request
    if (host.now() - found.at > freshMs) return undefined
    const answers = found.shown.map(({ op, args }) => host.foresee?.(op, args))
    if (!answers.every((answer, n): answer is ForeseenAnswer => answer?.value === found.shown[n]?.value)) {
      return undefined
    }
    for (const answer of answers) answer.taken()
    for (const { level, message } of found.lines) host.log(level, message)
    for (const { op, args } of found.calls) void host.call(op, args, neverAborted)
    onTaken()
    return found.outcome
  }

  return {
    compile: (source) => inner.compile(source),
    describe: (script) => inner.describe(script),
    runPhase: (request) => {
      remember(request)
      return inner.runPhase(request)
    },
    takeAtHand,
    runAhead,
  }
}

const keyOf = ({ workflowId, scriptId, phase, handler, args }: PhaseRequest): string =>
  JSON.stringify([workflowId, scriptId, phase, handler, args])

/** Tools whose mutations answer only when what follows them was run ahead. */
export const answeringAhead = (tools: Tools, sandbox: AheadSandbox): Tools => {
  const slowly = (method: ToolMethod): ToolMethod => {
    if (method.kind === 'read') return method
    return {
      ...method,
      call: async (params, call) => {
        const outcome = await method.call(params, call)
        if (outcome.kind === 'ok') await sandbox.runAhead(call.workflowId, outcome.value ?? null)
        return outcome
      },
    }
  }
  return {
    ...tools,
    find: (namespace, name) => {
      const found = tools.find(namespace, name)
      return found && slowly(found)
    },
    list: () => tools.list().map(slowly),
  }
}
