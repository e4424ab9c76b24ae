import { failure, type Failure, type SourcePosition } from '#engine/model/errors.ts'
import type { SandboxLimits } from '#engine/ports/sandbox.ts'
import { GuestBroken, SCRIPT_FILE, WRAPPER } from './guest.ts'
import { limitFailure } from './limits.ts'

/** What `report` in the bridge writes. All but `host` is the script's own claim and only ever shown. */
interface ThrownReport {
  host?: number
  name?: string
  message?: string
  internal?: boolean
  stack?: string
}

const FRAME = new RegExp(String.raw`${SCRIPT_FILE.replace('.', '\\.')}:(\d+)(?::(\d+))?`)

/** The first frame that is the user's: for an error made by the host, the line of the call. */
function positionIn(stack: string): SourcePosition | undefined {
  const match = FRAME.exec(stack)
  if (match?.[1] === undefined) return undefined
  const line = Number(match[1])
  if (match[2] === undefined) return { line, column: null }
  const column = Number(match[2]) - (line === 1 ? WRAPPER.length : 0)
  return { line, column: Math.max(column, 1) }
}

const userFrames = (stack: string): string =>
  stack
    .split('\n')
    .filter((frame) => FRAME.test(frame))
    .join('\n')

const cut = (text: string, chars: number): string => (text.length <= chars ? text : `${text.slice(0, chars - 1)}…`)

/** Exhaustion of the machine reads like any error of the script; a person is told which limit it was. */
function exhausted({ internal, name, message }: ThrownReport, limits: SandboxLimits): Failure | undefined {
  if (message === 'stack overflow' && (internal === true || name === 'SyntaxError')) {
    return limitFailure('stackBytes', limits.stackBytes)
  }
  // Without a message: there was not even room for it.
  if ((message === 'out of memory' || !message) && internal === true)
    return limitFailure('memoryBytes', limits.memoryBytes)
  return undefined
}

/** `hostFailures` are the host's own answers by call: only through them can a failure have another class than logic. */
export function thrownToFailure(
  json: string,
  limits: SandboxLimits,
  hostFailures: ReadonlyMap<number, Failure> = new Map(),
): Failure {
  const thrown = JSON.parse(json) as ThrownReport
  const stack = thrown.stack ?? ''
  const position = positionIn(stack)
  const where = { ...(position && { position }), ...(stack !== '' && { stack: userFrames(stack) }) }

  const ofHost = thrown.host === undefined ? undefined : hostFailures.get(thrown.host)
  if (ofHost !== undefined) return { ...where, ...ofHost }

  const limit = exhausted(thrown, limits)
  if (limit !== undefined) return { ...limit, ...where }

  const { name = '', message = '' } = thrown
  const text = name === '' || name === 'Error' ? message : `${name}: ${message}`
  return failure(
    'logic',
    cut(text === '' ? 'The script threw an error without a message.' : text, limits.errorChars),
    where,
  )
}

/** A limit was hit; `report` is where the script was, as far as that could be seen. Its column would claim too much. */
export function stopToFailure(stopped: Failure, report: string | undefined): Failure {
  const { stack = '' } = JSON.parse(report ?? '{}') as ThrownReport
  const position = positionIn(stack)
  return position === undefined ? stopped : { ...stopped, position: { line: position.line, column: null } }
}

/** `answer` is where the call was made. */
export function forgottenCallFailure(op: string, answer: string): Failure {
  const { stack = '' } = JSON.parse(answer) as ThrownReport
  const position = positionIn(stack)
  const message = `The handler ended without waiting for ctx.${op}, which was therefore not carried out: write "await" before the call.`
  return failure('logic', message, position && { position })
}

/** What the guest's breakdown means. Only scripts bring a guest down: a limit was hit where the guest could not say so. */
export function breakdownToFailure(error: unknown, limits: SandboxLimits): Failure {
  if (error instanceof GuestBroken) return limitFailure('memoryBytes', limits.memoryBytes)
  if (error instanceof RangeError) return limitFailure('stackBytes', limits.stackBytes)
  // QuickJS does not look at every allocation it makes: the last one that failed is then read from where nothing is.
  if (error instanceof WebAssembly.RuntimeError && error.message.includes('out of bounds'))
    return limitFailure('memoryBytes', limits.memoryBytes)
  const reason = error instanceof Error ? error.message : String(error)
  return failure('logic', `The script brought its sandbox down (${reason}). Do less in one phase.`)
}
