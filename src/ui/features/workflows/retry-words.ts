import { plannedWaitMs, type RetryPolicy } from '#engine/model/retry-policy.ts'
import { once } from '../../kit/once.ts'
import { plural } from '../../kit/number-words.ts'
import { duration } from '../../kit/time-words.ts'

/** More would not be read. */
const MOST_WAITS = 5
const list = once(() => new Intl.ListFormat('en', { type: 'conjunction' }))

/** "5 retries, after 1 s, 2 s, 4 s, 8 s, and 16 s." */
export function retryWords(policy: RetryPolicy): string {
  if (policy.retries === 0) return 'No retries: the inbox asks you at the first failure.'
  const shown = Math.min(policy.retries, MOST_WAITS)
  const waits = Array.from({ length: shown }, (_, used) => waitWords(plannedWaitMs(policy, used)))
  const retries = plural(policy.retries, 'retry', 'retries')
  if (new Set(waits).size === 1 && waits[0] !== undefined && shown > 1) return `${retries}, each after ${waits[0]}.`
  if (policy.retries > shown) {
    const last = waitWords(plannedWaitMs(policy, policy.retries - 1))
    return `${retries}, after ${waits.join(', ')} and so on, the last after ${last}.`
  }
  return `${retries}, after ${list().format(waits)}.`
}

const waitWords = (ms: number): string => duration(ms).replace('.0 s', ' s')
