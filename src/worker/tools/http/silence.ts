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

/** A browser says "Failed to fetch" for everything, so the message has to name both of the likely reasons. */
export function explainSilence(url: URL, error: unknown, isOnline: boolean): string {
  const code = codeOf(error)
  if (code !== undefined) return `${url.host} could not be reached, or the connection broke off (${code})`
  if (!isOnline) return `The connection to ${url.host} was lost: this device is offline`
  return (
    `No answer came from ${url.host} that this page may read. Either the connection failed, or ${url.host} does not allow web ` +
    `pages of other sites to use it (CORS): then its answers would have to carry Access-Control-Allow-Origin, and for requests ` +
    `with a JSON body or own headers it would have to allow those too. The request itself may have been carried out all the same`
  )
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}
