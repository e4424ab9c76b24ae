import { failure, type Failure } from '#engine/model/errors.ts'
import type { PhaseOutcome, SandboxLimits } from '#engine/ports/sandbox.ts'
import { isTextTooDeep } from '#engine/script/nesting.ts'
import type { Answer, Guest } from './guest.ts'
import { limitFailure } from './limits.ts'
import type { Meter } from './meter.ts'
import { createPhaseGuestHost } from './phase-host.ts'
import { createNotedCalls } from './noted-calls.ts'
import type { Delivery, HostCall, PhaseJob, PhaseLink } from './phase-link.ts'
import { createRandom } from './random.ts'
import { forgottenCallFailure, stopToFailure, thrownToFailure } from './script-failure.ts'
import { isLongerThan } from './text-size.ts'
import { startWallClock, type WallClock } from './wall-clock.ts'

/** Computing at a stretch; then whoever else lives in this thread has a turn. */
const SLICE_MS = 12

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

const failed = (reason: Failure): PhaseOutcome => ({ kind: 'failed', failure: reason })

const DEADLOCK = failure(
  'logic',
  'The handler waits for something that can never happen: it awaits a promise that nothing will settle. ' +
    'Await only calls on ctx and promises made of them: there are no timers here.',
)

export interface PhaseRun {
  guest: Guest
  job: PhaseJob
  limits: SandboxLimits
  meter: Meter
  link: PhaseLink
}

/** Until nothing is left to do, the phase has its answer, or it was stopped. */
async function drain(guest: Guest, meter: Meter): Promise<Answer | undefined> {
  let sliceStart = performance.now()
  for (;;) {
    const hasMore = meter.computing(() => guest.runJobs())
    if (meter.stopped !== undefined) return undefined
    const answer = meter.computing(() => guest.answer())
    if (answer !== undefined || !hasMore) return answer
    if (performance.now() - sliceStart > SLICE_MS) {
      await nextTask()
      sliceStart = performance.now()
    }
  }
}

function begin({ guest, job, limits, meter }: PhaseRun): Answer | undefined {
  for (const argument of job.args) {
    if (isLongerThan(argument, limits.valueBytes)) {
      meter.hit('valueBytes')
      return undefined
    }
    const answer = guest.give(argument)
    if (answer.startsWith('E')) return answer
  }
  const { phase, handler, values = {} } = job
  const { valueBytes: valueChars, errorChars } = limits
  guest.start(JSON.stringify({ phase, handler, values, valueChars, errorChars }))
  return undefined
}

function conclude(
  { guest, job, limits }: PhaseRun,
  answer: Answer,
  forgotten: HostCall | undefined,
  hostFailures: ReadonlyMap<number, Failure>,
): PhaseOutcome {
  if (answer.startsWith('E')) return failed(thrownToFailure(answer.slice(1), limits, hostFailures))
  // Nothing of the last turn was handed over: better to say so than to drop it without a word.
  if (forgotten !== undefined) return failed(forgottenCallFailure(forgotten.op, guest.trace(forgotten.id)))
  if (answer === 'U') return { kind: 'returned', value: undefined }
  const value = answer.slice(1)
  if (isLongerThan(value, limits.valueBytes)) return failed(limitFailure('valueBytes', limits.valueBytes))
  const isState = job.phase === 'producer' || job.phase === 'next'
  if (isState && isLongerThan(value, limits.stateBytes)) return failed(limitFailure('stateBytes', limits.stateBytes))
  return { kind: 'returned', value }
}

/** The host would end the script at this call and at nothing else: what it asks for is made after the script is over. */
const endsPhase = ({ phase, mutations = [] }: PhaseJob, { op, args }: HostCall): boolean =>
  phase === 'mutate' && mutations.includes(op) && !isTextTooDeep(args)

const isForeseen = ({ foreseen }: PhaseJob, { op, args }: HostCall): boolean =>
  foreseen?.op === op && foreseen.args === args

/** Runs one phase in a guest whose script is loaded. Throws when the guest is beyond use. */
export async function runPhase(run: PhaseRun): Promise<PhaseOutcome> {
  const { guest, job, limits, meter, link } = run
  const queued: HostCall[] = []
  const inFlight = new Set<number>()
  const hostFailures = new Map<number, Failure>()
  const needsNoAnswer = createNotedCalls(job)
  const random = createRandom(job.seed)
  let now = job.now
  let turns = 0

  guest.talkTo(
    createPhaseGuestHost({
      limits,
      meter,
      queued,
      inFlight,
      random,
      now: () => {
        link.tookTime?.(now)
        return now
      },
      log: (level, message) => link.log(level, message),
    }),
  )

  const settle = (delivery: Delivery): PhaseOutcome | undefined => {
    const { id, reply } = delivery
    now = delivery.now
    inFlight.delete(id)
    if (reply.kind === 'end') return { kind: 'ended' }
    if (reply.kind === 'broken') return failed(failure('internal', reply.message))
    if (reply.kind === 'error') {
      hostFailures.set(id, reply.failure)
      meter.computing(() => guest.settle(id, false, JSON.stringify(reply.failure)))
    } else if (reply.value !== undefined && isLongerThan(reply.value, limits.valueBytes)) {
      meter.hit('valueBytes')
    } else {
      meter.computing(() => guest.settle(id, true, reply.value))
    }
    return undefined
  }

  /** The only call under way, where there is just one. */
  const onlyCall = (): HostCall | undefined => (queued.length === 1 && inFlight.size === 0 ? queued[0] : undefined)

  // Computing has a limit of its own, so the wall only matters to one who waits.
  const startedAt = performance.now()
  let wall: WallClock | undefined
  const waitForReply = (): Promise<Delivery | 'expired'> => {
    wall ??= startWallClock(limits.wallMs - (performance.now() - startedAt))
    return Promise.race([link.receive(), wall.expired])
  }

  try {
    let answer = meter.computing(() => begin(run))
    for (;;) {
      if (answer === undefined && meter.stopped === undefined) answer = await drain(guest, meter)
      if (meter.stopped !== undefined) return failed(stopToFailure(meter.stopped, guest.stoppedAt))
      if (answer !== undefined) return conclude(run, answer, queued[0], hostFailures)
      if (queued.length === 0 && inFlight.size === 0) return failed(DEADLOCK)

      if (link.note !== undefined && queued.length > 0 && needsNoAnswer(queued)) {
        const noted = queued.splice(0)
        link.note(noted)
        for (const { id } of noted) settle({ id, reply: { kind: 'value', value: undefined }, now })
        continue
      }
      turns += 1
      const only = onlyCall()
      if (only !== undefined && turns === 1 && job.foreseen !== undefined && isForeseen(job, only)) {
        queued.length = 0
        link.tookForeseen?.()
        settle({ id: only.id, reply: { kind: 'value', value: job.foreseen.value }, now })
        continue
      }
      if (only !== undefined && link.last !== undefined && endsPhase(job, only)) {
        link.last(only)
        return { kind: 'ended' }
      }
      for (const { id } of queued) inFlight.add(id)
      link.send(queued.splice(0))
      const delivery = await waitForReply()
      if (delivery === 'expired') return failed(limitFailure('wallMs', limits.wallMs))
      const ending = settle(delivery)
      if (ending !== undefined) return ending
    }
  } finally {
    wall?.stop()
  }
}
