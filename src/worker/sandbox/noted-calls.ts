import { failure, type Failure } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import type { PhaseHost } from '#engine/ports/sandbox.ts'
import { isTextTooDeep } from '#engine/script/nesting.ts'
import { parsePublish } from '#engine/script/topic-calls.ts'
import { answerCall, type HostCall, type PhaseJob } from './phase-link.ts'

const PUBLISH = 'topics.publish'

/** Tells which turns of a script need no answer of the host: those that only publish, and in order. */
export function createNotedCalls({
  publishing,
}: Pick<PhaseJob, 'publishing'>): (calls: readonly HostCall[]) => boolean {
  let count = 0
  const isInOrder = ({ op, args }: HostCall): boolean =>
    publishing !== undefined &&
    op === PUBLISH &&
    !isTextTooDeep(args) &&
    parsePublish(JSON.parse(args) as Json[], publishing.topics).ok
  return (calls) => {
    if (publishing === undefined || count + calls.length > publishing.most || !calls.every(isInOrder)) return false
    count += calls.length
    return true
  }
}

/** What the host makes of calls that were answered without it. */
export interface NotedCalls {
  tell(calls?: readonly HostCall[]): void
  /** Undefined when it agreed to all of them, as it should: both look at the same. */
  whenAgreed(then: (refusal: Failure | undefined) => void): void
}

export function tellNoted(host: PhaseHost, signal: () => AbortSignal): NotedCalls {
  const answers: Promise<Failure | undefined>[] = []
  const tellOne = async (call: HostCall): Promise<Failure | undefined> => {
    const reply = await answerCall(host, call, signal())
    if (reply.kind === 'value') return undefined
    if (reply.kind === 'error') return reply.failure
    return failure('internal', reply.kind === 'broken' ? reply.message : `${call.op} ended its phase.`)
  }
  return {
    tell(calls = []) {
      for (const call of calls) answers.push(tellOne(call))
    },
    whenAgreed(then) {
      if (answers.length === 0) then(undefined)
      else void Promise.all(answers).then((all) => then(all.find((refusal) => refusal !== undefined)))
    },
  }
}
