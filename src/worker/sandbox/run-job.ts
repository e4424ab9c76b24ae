import type { Failure } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { PhaseOutcome, SandboxLimits, WorkflowShape } from '#engine/ports/sandbox.ts'
import type { CleanMemory, GuestScript } from './clean-memory.ts'
import type { Guest } from './guest.ts'
import { resolveLimits } from './limits.ts'
import { createMeter, type Meter } from './meter.ts'
import { createLoadingGuestHost } from './phase-host.ts'
import type { PhaseJob, PhaseLink } from './phase-link.ts'
import { runPhase } from './run-phase.ts'
import { breakdownToFailure, stopToFailure, thrownToFailure } from './script-failure.ts'

/** Everything a script can do happens inside: lends a guest, uses it, and takes it back whatever came of it. */
async function withGuest<T>(
  memory: CleanMemory,
  script: GuestScript,
  limits: SandboxLimits,
  use: (guest: Guest, meter: Meter) => Promise<Result<T, Failure>> | Result<T, Failure>,
  evaluated?: () => void,
): Promise<Result<T, Failure>> {
  const lent = await memory.lend(script, limits, evaluated)
  if (!lent.ok) return lent
  const guest = lent.value
  const meter = createMeter(limits)
  let isIntact = false
  try {
    const result = await use(guest, meter)
    isIntact = meter.stopped === undefined && !guest.isExhausted
    return result
  } catch (error) {
    return err(meter.stopped ? stopToFailure(meter.stopped, guest.stoppedAt) : breakdownToFailure(error, limits))
  } finally {
    memory.takeBack(guest, isIntact)
  }
}

export async function runJob(memory: CleanMemory, job: PhaseJob, link: PhaseLink): Promise<PhaseOutcome> {
  const limits = resolveLimits(job.limits)
  const script = { id: job.scriptId, code: job.code, operations: job.operations }
  const result = await withGuest(
    memory,
    script,
    limits,
    async (guest, meter) => ok(await runPhase({ guest, job, limits, meter, link })),
    () => link.scriptLoaded(),
  )
  return result.ok ? result.value : { kind: 'failed', failure: result.error }
}

export async function describeCode(memory: CleanMemory, code: string): Promise<Result<WorkflowShape | null, Failure>> {
  const limits = resolveLimits()
  return withGuest(memory, { id: null, code }, limits, (guest, meter) => {
    guest.talkTo(createLoadingGuestHost(meter))
    const answer = meter.computing(() => guest.describe())
    if (meter.stopped !== undefined) return err(stopToFailure(meter.stopped, guest.stoppedAt))
    if (answer.startsWith('E')) return err(thrownToFailure(answer.slice(1), limits))
    return ok(JSON.parse(answer.slice(1)) as Json)
  })
}
