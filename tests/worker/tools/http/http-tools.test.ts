import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '#engine/model/json.ts'
import { createHttpTools } from '#worker/tools/http/http-tools.ts'
import { callTool, methodOf, paramsOf, valueOf } from '../../../support/call-tool.ts'
import { startMisbehavingServer, type MisbehavingServer } from '../../../support/misbehaving-server.ts'
import { failed, fine, fineWithout, open, outcomes } from '../../../support/http-outcomes.ts'
import { createHttpKit, finderOf, type HttpKit } from '../../../support/tool-kit.ts'

let server: MisbehavingServer
/** Stands for every host that was not granted. */
let forbidden: MisbehavingServer
beforeAll(async () => {
  server = await startMisbehavingServer()
  forbidden = await startMisbehavingServer()
})
afterAll(async () => {
  await server.close()
  await forbidden.close()
})

function setUp(over: Partial<HttpKit> = {}) {
  const kit = { ...createHttpKit(), ...over }
  return { ...kit, tools: finderOf(createHttpTools(kit)) }
}

const at = (path: string) => `${server.url}/${path}`
const mutations = ['http.post', 'http.put', 'http.patch', 'http.delete']
const reads = ['http.get', 'http.head']

describe('a request', () => {
  it('gives plain JSON: status, headers, the address and the parsed body', async () => {
    const value = await valueOf(setUp().tools, 'http.get', [at('json')])
    expect(value).toMatchObject({ status: 200, url: at('json'), body: { hello: 'world' } })
    expect(value).toHaveProperty('headers.content-type', 'application/json')
  })

  it.each<[string, Json, Json]>([
    ['text', {}, 'plain text'],
    ['latin1', {}, 'für'],
    ['json', { responseType: 'text' }, '{"hello":"world"}'],
    ['bytes', { responseType: 'base64' }, 'AP+A'],
    ['empty', {}, ''],
  ])('reads the body of %s with %o', async (path, options, body) => {
    expect(await valueOf(setUp().tools, 'http.get', [at(path), options])).toMatchObject({ body })
  })

  it('sends search parameters, headers and no cookies', async () => {
    const options = { searchParams: { a: 'x y', b: 2, c: true }, headers: { 'X-Mine': '1' } }
    const value = await valueOf(setUp().tools, 'http.get', [at('echo?a=0'), options])
    expect(value).toMatchObject({ body: { path: '/echo?a=x+y&b=2&c=true', headers: { 'x-mine': '1' } } })
    expect(value).not.toHaveProperty('body.headers.cookie')
  })

  it.each<[Json, string, string]>([
    [{ json: { a: [1] } }, 'application/json', '{"a":[1]}'],
    [{ json: null }, 'application/json', 'null'],
    [{ form: { a: 'x y', b: 1 } }, 'application/x-www-form-urlencoded;charset=UTF-8', 'a=x+y&b=1'],
    [{ body: 'text' }, 'text/plain;charset=UTF-8', 'text'],
    [{ body: '<a/>', headers: { 'content-type': 'application/xml' } }, 'application/xml', '<a/>'],
  ])('sends the body %o', async (options, contentType, body) => {
    const value = await valueOf(setUp().tools, 'http.post', [at('echo'), options])
    expect(value).toMatchObject({ body: { method: 'POST', headers: { 'content-type': contentType }, body } })
  })

  it.each(mutations)('by %s carries the idempotency key', async (op) => {
    const call = { idempotencyKey: 'key-1' }
    const value = await valueOf(setUp().tools, op, [at('echo')], call)
    expect(value).toHaveProperty('body.headers.idempotency-key', 'key-1')
    const without = await valueOf(setUp().tools, op, [at('echo'), { sendIdempotencyKey: false }], call)
    expect(without).not.toHaveProperty('body.headers.idempotency-key')
    const own = await valueOf(setUp().tools, op, [at('echo'), { headers: { 'idempotency-key': 'mine' } }], call)
    expect(own).toHaveProperty('body.headers.idempotency-key', 'mine')
  })

  it('needs the permission for the host and port of its address', () => {
    const { tools } = setUp()
    const permissions = (url: string, options: Json = {}) =>
      methodOf(tools, 'http.get').permissionsFor(paramsOf(tools, 'http.get', url, options))
    expect(permissions('https://API.example.com:443/x')).toEqual(['http:api.example.com'])
    expect(permissions('https://api.example.com.:8443/x')).toEqual(['http:api.example.com:8443'])
    expect(permissions('https://api.example.com/', { followRedirects: true })).toEqual(['http:*'])
  })
})

describe('the outcome of a request', () => {
  it.each(outcomes)('to %s is known for what it is when it reads', async (path, outcome) => {
    expect(await callTool(setUp().tools, 'http.get', [at(path)])).toMatchObject(outcome)
  })

  describe.each(mutations)('%s', (op) => {
    it.each(outcomes)('to %s is certain only when it is', async (path, _read, outcome) => {
      expect(await callTool(setUp().tools, op, [at(path), { json: {} }])).toMatchObject(outcome)
    })
  })

  it.each([404, 401, 429])('with status %s is a result when the script wants it so', async (status) => {
    const options = { throwHttpErrors: false }
    for (const op of [...reads, ...mutations]) {
      expect(await callTool(setUp().tools, op, [at(`status/${status}`), options])).toMatchObject(fine(status))
    }
  })

  it('with a status of 500 stays open for a mutation even then: nobody knows what happened', async () => {
    const options = { throwHttpErrors: false }
    expect(await callTool(setUp().tools, 'http.get', [at('status/500'), options])).toMatchObject(fine(500))
    expect(await callTool(setUp().tools, 'http.post', [at('status/500'), options])).toMatchObject(open('network'))
  })

  it('names the host, the method, the path and what the other side said', async () => {
    const outcome = await callTool(setUp().tools, 'http.get', [at('status/404?token=x')])
    expect(outcome).toHaveProperty('failure.message', `${server.host} answered 404 to GET /status/404: this is 404`)
  })

  it('waits as long as Retry-After says when it is a date', async () => {
    const { clock, tools } = setUp()
    const date = new Date(clock.now() + 90_000).toUTCString()
    const outcome = await callTool(tools, 'http.get', [at(`status/429?retry-after=${encodeURIComponent(date)}`)])
    expect(outcome).toHaveProperty('failure.retryAfterMs', 90_000)
  })

  it.each(['soon', '-5', '1e3', ''])('does not know what Retry-After: "%s" means', async (value) => {
    const outcome = await callTool(setUp().tools, 'http.get', [at(`status/429?retry-after=${value}`)])
    expect(outcome).not.toHaveProperty('failure.retryAfterMs')
  })
})

describe('time', () => {
  it.each([
    ['http.get', failed('network')],
    ['http.post', open('network')],
  ])('is up for %s when nothing comes back in time', async (op, outcome) => {
    const { clock, tools } = setUp()
    const arrival = server.nextArrival()
    const call = callTool(tools, op, [at('silent'), { timeout: 5_000 }])
    await arrival
    clock.advance(5_000)
    const result = await call
    expect(result).toMatchObject(outcome)
    expect(result).toHaveProperty('failure.message', `${server.host} did not answer within 5 seconds`)
  })

  it.each([
    ['http.get', () => failed('network')],
    ['http.post', () => fineWithout(`${server.host} did not answer within 30 seconds`)],
  ])('is up for %s when the body stalls', async (op, outcome) => {
    let hasAnswered: () => void = () => undefined
    const answered = new Promise<void>((resolve) => (hasAnswered = resolve))
    const { clock, tools } = setUp({
      fetch: async (input, init) => {
        const response = await globalThis.fetch(input, init)
        hasAnswered()
        return response
      },
    })
    const call = callTool(tools, op, [at('stalls')])
    await answered
    clock.advance(30_000)
    expect(await call).toMatchObject(outcome())
  })

  it('that the engine takes back leaves a mutation open, unless nothing was sent yet', async () => {
    const { tools } = setUp()
    const controller = new AbortController()
    const arrival = server.nextArrival()
    const call = callTool(tools, 'http.post', [at('silent')], { signal: controller.signal })
    await arrival
    controller.abort()
    expect(await call).toMatchObject(open('network'))
    const late = await callTool(tools, 'http.post', [at('json')], { signal: controller.signal })
    expect(late).toMatchObject(failed('network'))
  })
})

describe('what was never sent', () => {
  it('is a definite failure when the device is offline', async () => {
    const { tools } = setUp({ isOnline: () => false })
    expect(await callTool(tools, 'http.post', [at('json')])).toMatchObject(failed('network'))
  })

  it('is a definite failure when nobody listens there', async () => {
    const closed = await startMisbehavingServer()
    await closed.close()
    const outcome = await callTool(setUp().tools, 'http.post', [`${closed.url}/json`])
    expect(outcome).toMatchObject(failed('network'))
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining('ECONNREFUSED'))
  })

  it.each<[Json[], string]>([
    [['not an address'], 'is not a complete address'],
    [['/relative'], 'is not a complete address'],
    [['ftp://example.com/'], 'must begin with https://'],
    [['file:///etc/passwd'], 'must begin with https://'],
    [['javascript:alert(1)'], 'must begin with https://'],
    [['http://example.com/'], 'http:// is possible for this computer only'],
    [['http://localhost.evil.example/'], 'http:// is possible for this computer only'],
    [['https://user:pass@example.com/'], 'a user name or password in the address'],
    [[`https://example.com/${'x'.repeat(9_000)}`], 'longer than 8192'],
    [[42], '`url`'],
    [['https://example.com/', 'options'], 'the options must be an object'],
    [['https://example.com/', { headers: { Cookie: 'a=b' } }], 'the header Cookie belongs to the browser'],
    [['https://example.com/', { headers: { 'Sec-Fetch-Mode': 'x' } }], 'belongs to the browser'],
    [['https://example.com/', { headers: { 'bad name': 'x' } }], 'cannot be the name of a header'],
    [['https://example.com/', { headers: { a: 'x\r\nEvil: 1' } }], 'holds a line end'],
    [['https://example.com/', { headers: { a: '日本' } }], 'holds a line end or a letter'],
    [['https://example.com/', { json: 1, body: 'x' }], 'use only one of `json`, `form` and `body`'],
    [['https://example.com/', { timeout: 1e9 }], '`timeout`'],
    [['https://example.com/', { redirect: 'follow' }], 'there is no option `redirect`'],
    [['https://example.com/', { followRedirects: true }], 'there is no option `followRedirects`'],
    [['https://example.com/', { url: 'https://evil.example/' }], 'may not be among the options'],
  ])('is refused before anything is recorded: %j', (args, message) => {
    const parsed = methodOf(setUp().tools, 'http.post').parse(args)
    expect(parsed.ok ? '' : parsed.error).toContain(message)
  })
})

describe('a host that was not granted', () => {
  it.each([...reads, ...mutations])('is not reached by a redirect of %s', async (op) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const to = encodeURIComponent(`${forbidden.url}/json`)
      const outcome = await callTool(setUp().tools, op, [at(`redirect?to=${to}&status=${status}`)])
      expect(outcome).toMatchObject({ kind: 'failed', failure: { type: 'logic' } })
    }
    expect(forbidden.received).toEqual([])
  })

  it.each([
    ['http.get', failed('logic')],
    ['http.post', open('logic')],
  ])('is not reached in a browser either, which hides from %s where a redirect leads', async (op, outcome) => {
    const opaque = { type: 'opaqueredirect', status: 0, headers: new Headers(), body: null } as Response
    const { tools } = setUp({ fetch: () => Promise.resolve(opaque) })
    expect(await callTool(tools, op, ['https://api.example.com/x'])).toMatchObject(outcome)
  })

  it('can be followed to when everything was granted, and loops come to an end', async () => {
    const { tools } = setUp()
    const options = { followRedirects: true }
    expect(await valueOf(tools, 'http.get', [at('redirect?to=/json'), options])).toMatchObject({ url: at('json') })
    expect(await callTool(tools, 'http.get', [at('loop'), options])).toMatchObject(failed('network'))
  })
})

describe('a refusal by CORS, which a browser reports like a lost connection', () => {
  const failing = () => Promise.reject(new TypeError('Failed to fetch'))

  it('is explained in plain words, and leaves a mutation open', async () => {
    const outcome = await callTool(setUp({ fetch: failing }).tools, 'http.post', ['https://api.example.com/x'])
    expect(outcome).toMatchObject(open('network'))
    expect(outcome).toHaveProperty(
      'failure.message',
      expect.stringContaining('does not allow web pages of other sites'),
    )
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining('may have been carried out'))
  })

  it('is not suspected when the device went offline meanwhile', async () => {
    const online = [true, false]
    const { tools } = setUp({ fetch: failing, isOnline: () => online.shift() ?? false })
    const outcome = await callTool(tools, 'http.post', ['https://api.example.com/x'])
    expect(outcome).toMatchObject(open('network'))
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining('this device is offline'))
  })
})

describe('a secret in a header', () => {
  const withSecret = async () => {
    const kit = setUp()
    await kit.vault.put({ name: 'TOKEN', value: 'ghp_aVerySecretToken123', hosts: [server.host] })
    return kit
  }
  const headers = { authorization: 'Bearer secret:TOKEN' }

  it('reaches the host it is bound to, and is not among the recorded parameters', async () => {
    const { tools } = await withSecret()
    await valueOf(tools, 'http.post', [at('json'), { headers }])
    expect(server.received.at(-1)?.headers['authorization']).toBe('Bearer ghp_aVerySecretToken123')
    expect(JSON.stringify(paramsOf(tools, 'http.post', at('json'), { headers }))).not.toContain('ghp_')
  })

  it('goes nowhere else: the request is not even sent', async () => {
    const { tools } = await withSecret()
    const outcome = await callTool(tools, 'http.post', [`${forbidden.url}/json`, { headers }])
    expect(outcome).toMatchObject(failed('auth'))
    expect(forbidden.received).toEqual([])
  })

  it('is not sent along when redirects are followed', async () => {
    const { tools } = await withSecret()
    const options = { headers, followRedirects: true }
    expect(await callTool(tools, 'http.get', [at('json'), options])).toMatchObject(failed('logic'))
  })

  it('that does not exist is asked for', async () => {
    const outcome = await callTool(setUp().tools, 'http.post', [at('json'), { headers }])
    expect(outcome).toMatchObject(
      failed('auth', { message: expect.stringContaining('There is no secret TOKEN') as string }),
    )
  })
})
