import * as v from 'valibot'
import type { Result } from './result.ts'
import { err, ok } from './result.ts'

/** How what fails on the network is tried again by itself, before a person is asked (1.6). */
export interface RetryPolicy {
  /** How often; 0 asks at once. */
  retries: number
  /** Before the first retry. */
  firstDelayMs: number
  /** Each wait is so many times the one before. */
  factor: number
  /** No wait gets longer than this, but for what is added by chance and what the other side asks for. */
  longestDelayMs: number
}

export const defaultRetryPolicy: Readonly<RetryPolicy> = {
  retries: 5,
  firstDelayMs: 1_000,
  factor: 2,
  longestDelayMs: 5 * 60_000,
}

export const mostRetries = 100
/** Nothing but a schedule is ever planned further ahead than a day. */
export const longestRetryWaitMs = 24 * 60 * 60_000
const shortestWaitMs = 100
const greatestFactor = 10

export interface RetryPolicyProblem {
  /** Null when it is about all of it. */
  field: keyof RetryPolicy | null
  message: string
}

const within = (least: number, most: number, message: string) =>
  v.pipe(v.number(message), v.minValue(least, message), v.maxValue(most, message))

const wholeWithin = (least: number, most: number, message: string) =>
  v.pipe(within(least, most, message), v.integer(message))

const retriesSentence = `The number of retries must be a whole number from 0 to ${String(mostRetries)}.`
const waitSentence = (which: string): string =>
  `The ${which} wait must be from a tenth of a second to a day (${String(shortestWaitMs)} to ${String(longestRetryWaitMs)} ms), in whole milliseconds.`
const factorSentence = `The factor must be a number from 1 to ${String(greatestFactor)}.`
const orderSentence = 'The longest wait must not be shorter than the first one.'
const shapeSentence =
  'The retry policy must be an object { retries, firstDelayMs, factor, longestDelayMs } with a number for each and nothing else, or null for that of everywhere.'

const schema = v.pipe(
  v.strictObject(
    {
      retries: wholeWithin(0, mostRetries, retriesSentence),
      firstDelayMs: wholeWithin(shortestWaitMs, longestRetryWaitMs, waitSentence('first')),
      factor: within(1, greatestFactor, factorSentence),
      longestDelayMs: wholeWithin(shortestWaitMs, longestRetryWaitMs, waitSentence('longest')),
    },
    shapeSentence,
  ),
  v.forward(
    v.partialCheck(
      [['firstDelayMs'], ['longestDelayMs']],
      ({ firstDelayMs, longestDelayMs }) => firstDelayMs <= longestDelayMs,
      orderSentence,
    ),
    ['longestDelayMs'],
  ),
)

/** Before the retry that comes after so many; without what is added by chance. */
export const plannedWaitMs = ({ firstDelayMs, factor, longestDelayMs }: RetryPolicy, retriesUsed: number): number =>
  Math.min(firstDelayMs * factor ** retriesUsed, longestDelayMs)

/** Every problem that there is, for a form that shows each at its field. */
export const parseRetryPolicy = (value: unknown): Result<RetryPolicy, RetryPolicyProblem[]> => {
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return ok(parsed.output)
  return err(parsed.issues.map((issue) => ({ field: fieldOf(v.getDotPath(issue)), message: issue.message })))
}

const fieldOf = (path: string | null): RetryPolicyProblem['field'] =>
  path !== null && Object.hasOwn(defaultRetryPolicy, path) ? (path as keyof RetryPolicy) : null
