import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import { parseRetryPolicy, type RetryPolicy } from '#engine/model/retry-policy.ts'

/** What of a workflow leaves the browser: its script and how it is set. No permissions, no secrets, no data. */
export interface SharedWorkflow {
  name: string
  source: string
  budget?: number
  /** Null means that of the browser it runs in. */
  timezone?: string | null
  /** Absent means that of everywhere. */
  retryPolicy?: RetryPolicy
}

const FORMAT = 'holdfast.workflow'
const VERSION = 1
/** More than any script: the sandbox would refuse it anyhow. */
export const LARGEST_FILE = 1_000_000

export const sharedToText = (workflow: SharedWorkflow): string =>
  `${JSON.stringify({ format: FORMAT, version: VERSION, ...workflow }, null, 2)}\n`

export const sharedFileName = (name: string): string =>
  `${
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'workflow'
  }.workflow.json`

/** Nothing of a file is believed: each part is looked at, and the rest is left behind. */
export function textToShared(text: string): Result<SharedWorkflow> {
  if (text.length > LARGEST_FILE) return refuse(TOO_LARGE)
  if (text.trim() === '') return refuse('There is nothing in it. Choose a file that ends in .workflow.json.')
  if (/^\s*[^{[]/.test(text) && text.includes('defineWorkflow(')) return ok({ name: '', source: text })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return refuse('This is not a workflow: it is no JSON. Choose a file that ends in .workflow.json.')
  }
  return valueToShared(parsed)
}

export const TOO_LARGE = 'It is larger than 1 MB, and so not a workflow. Choose a file that ends in .workflow.json.'

/** Its size is looked at before it is read: a film that was dropped by mistake must not fill the memory. */
export const fileToShared = async (file: File): Promise<Result<SharedWorkflow>> =>
  file.size > LARGEST_FILE * 2 ? refuse(TOO_LARGE) : textToShared(await file.text())

function valueToShared(value: unknown): Result<SharedWorkflow> {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  if (fields['format'] !== FORMAT) {
    return refuse('This is JSON, but not a workflow from Holdfast. Choose a file that ends in .workflow.json.')
  }
  const { version, name, source, budget, timezone } = fields
  const policy = parseRetryPolicy(fields['retryPolicy'])
  if (version !== VERSION) {
    return refuse(
      'It was made by a newer version of Holdfast. Reload the page to get the newest version, then try again.',
    )
  }
  if (typeof name !== 'string' || typeof source !== 'string' || source.trim() === '') {
    return refuse('The file is damaged: its name or its script is missing. Ask for it again.')
  }
  return ok({
    name: name.slice(0, 200),
    source,
    ...(typeof budget === 'number' && Number.isInteger(budget) && budget > 0 && { budget }),
    ...((typeof timezone === 'string' || timezone === null) && { timezone }),
    ...(policy.ok && { retryPolicy: policy.value }),
  })
}

const refuse = (message: string): Result<never> => err(engineError('invalid_input', message))
