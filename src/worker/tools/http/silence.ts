import type { HttpDeps } from './deps.ts'

/** The connection never came about. Browsers do not tell; where the platform does, a mutation need not be asked about. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

export const wasNeverSent = (error: unknown): boolean => BEFORE_SENDING.has(codeOf(error) ?? '')

/** A browser says "Failed to fetch" for everything. The most useful guess, in plain words. */
export async function explainSilence(deps: HttpDeps, url: URL, error: unknown): Promise<string> {
  const code = codeOf(error)
  if (code !== undefined) return `${url.host} could not be reached, or the connection broke off (${code})`
  if (!deps.isOnline()) return `The connection to ${url.host} was lost: this device is offline`
  if (!(await answersAtAll(deps, url))) return `${url.host} could not be reached, or the connection broke off`
  return (
    `${url.host} answers, but not in a way that this page may read. Most likely it does not allow web pages of other sites ` +
    `to use it (CORS): its answers would have to carry Access-Control-Allow-Origin, and for requests with a JSON body or ` +
    `own headers it has to allow those too. The request itself may have been carried out all the same`
  )
}

/** Without CORS an answer cannot be read, but its arrival can be seen. Sends nothing that the script wrote. */
async function answersAtAll({ fetch, clock }: HttpDeps, url: URL): Promise<boolean> {
  const controller = new AbortController()
  const takeBack = clock.wakeAt(clock.now() + 5_000, () => controller.abort())
  try {
    await fetch(new URL('/', url), {
      method: 'HEAD',
      mode: 'no-cors',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'manual',
      signal: controller.signal,
    })
    return true
  } catch {
    return false
  } finally {
    takeBack()
  }
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}
