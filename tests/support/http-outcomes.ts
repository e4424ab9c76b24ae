/** What the other side did, and what a read and a mutation make of it. */
type Row = [path: string, read: Outcome, mutation: Outcome]
type Outcome = Record<string, unknown>
export const failed = (type: string, extra: object = {}) => ({
  kind: 'failed',
  certainty: 'definite',
  failure: { type, ...extra },
})
export const open = (type: string, extra: object = {}) => ({
  kind: 'failed',
  certainty: 'uncertain',
  failure: { type, ...extra },
})
export const fine = (status: number) => ({ kind: 'ok', value: { status } })
export const fineWithout = (bodyError: string) => ({ kind: 'ok', value: { status: 200, bodyError } })

export const outcomes: Row[] = [
  ['json', fine(200), fine(200)],
  ['status/201', fine(201), fine(201)],
  ['empty', fine(204), fine(204)],
  ['status/304', failed('logic'), failed('logic')],
  ['status/400', failed('logic'), failed('logic')],
  ['status/401', failed('auth'), failed('auth')],
  ['status/403', failed('permission'), failed('permission')],
  ['status/404', failed('logic'), failed('logic')],
  ['status/408', failed('network'), failed('network')],
  ['status/409', failed('logic'), failed('logic')],
  ['status/422', failed('logic'), failed('logic')],
  ['status/429', failed('network'), failed('network')],
  ['status/429?retry-after=7', failed('network', { retryAfterMs: 7_000 }), failed('network', { retryAfterMs: 7_000 })],
  ['busy', failed('network', { retryAfterMs: 7_000 }), failed('network', { retryAfterMs: 7_000 })],
  ['status/500', failed('network'), open('network')],
  ['status/502', failed('network'), open('network')],
  ['status/503?retry-after=9', failed('network', { retryAfterMs: 9_000 }), open('network', { retryAfterMs: 9_000 })],
  ['status/599', failed('network'), open('network')],
  ['drop-before-reading', failed('network'), open('network')],
  ['drop-after-reading', failed('network'), open('network')],
  ['garbage', failed('network'), open('network')],
  ['truncated', failed('network'), fineWithout('the answer broke off before its end')],
  ['truncated-chunks', failed('network'), fineWithout('the answer broke off before its end')],
  ['truncated-error', failed('logic'), failed('logic')],
  [
    'not-json',
    failed('network'),
    fineWithout('the answer is not JSON; it begins with "<html>Sign in to the Wi-Fi</html>"'),
  ],
  ['huge', failed('logic'), fineWithout('the answer is larger than 2097152 bytes; see the option maxBytes')],
  ['huge-stream', failed('logic'), fineWithout('the answer is larger than 2097152 bytes; see the option maxBytes')],
  ['redirect?status=301', failed('logic'), open('logic')],
  ['redirect?status=302', failed('logic'), open('logic')],
  ['redirect?status=303', failed('logic'), open('logic')],
  ['redirect?status=307', failed('logic'), failed('logic')],
  ['redirect?status=308', failed('logic'), failed('logic')],
  ['loop', failed('logic'), open('logic')],
]
