import * as v from 'valibot'
import type { Json } from '#engine/model/json.ts'
import type { ToolCall, ToolOutcome } from '#engine/ports/tools.ts'
import { defineMethod, valueAndOptions, type DocumentedMethod, type MethodDoc } from '../define-method.ts'
import { permissionForUrl } from '../permissions.ts'
import { readAddress, withSearchParams } from './address.ts'
import type { HttpDeps } from './deps.ts'
import { exchange, type HttpRequest } from './exchange.ts'
import { problemWithHeaders, withDefaults } from './headers.ts'
import { judge } from './judge.ts'
import { responseTypes } from './read-body.ts'

const DEFAULT_TIMEOUT_MS = 30_000
const DEFAULT_MAX_BYTES = 2 * 1024 * 1024
/** In base64 this is just below the 8 MiB that may cross into the sandbox. */
const MOST_BYTES = 6_000_000

const scalar = v.union([v.string(), v.number(), v.boolean()])
const headers = v.optional(
  v.pipe(
    v.record(v.string(), v.string()),
    v.rawCheck(({ dataset, addIssue }) => {
      const problem = dataset.typed ? problemWithHeaders(dataset.value) : undefined
      if (problem !== undefined) addIssue({ message: problem })
    }),
  ),
  {},
)
const url = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const address = dataset.typed ? readAddress(dataset.value) : undefined
    if (address && !address.ok) addIssue({ message: address.error })
  }),
)

const common = {
  url,
  searchParams: v.exactOptional(v.record(v.string(), scalar)),
  headers,
  timeout: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(300_000)), DEFAULT_TIMEOUT_MS),
  maxBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST_BYTES)), DEFAULT_MAX_BYTES),
  responseType: v.optional(v.picklist(responseTypes), 'auto'),
  throwHttpErrors: v.optional(v.boolean(), true),
}

/** The record of a call shows the whole address; the parameters have become part of it. */
const joinSearchParams = <T extends { url: string; searchParams?: Record<string, string | number | boolean> }>({
  searchParams = {},
  ...rest
}: T) => ({ ...rest, url: withSearchParams(new URL(rest.url), searchParams).href })

const readInput = v.pipe(
  v.strictObject({ ...common, followRedirects: v.optional(v.boolean(), false) }),
  v.transform(joinSearchParams),
)
const bodies = ['json', 'form', 'body'] as const
const mutationInput = v.pipe(
  v.strictObject({
    ...common,
    json: v.exactOptional(v.custom<Json>((value) => value !== undefined)),
    form: v.exactOptional(v.record(v.string(), scalar)),
    body: v.exactOptional(v.string()),
    sendIdempotencyKey: v.optional(v.boolean(), true),
  }),
  v.check((input) => bodies.filter((name) => name in input).length <= 1, 'use only one of `json`, `form` and `body`'),
  v.transform(joinSearchParams),
)
type ReadInput = v.InferOutput<typeof readInput>
type MutationInput = v.InferOutput<typeof mutationInput>

export function createHttpTools(deps: HttpDeps): DocumentedMethod[] {
  const send = async (
    kind: 'read' | 'mutation',
    method: HttpRequest['method'],
    input: Omit<ReadInput, 'followRedirects'>,
    over: Pick<HttpRequest, 'headers' | 'followRedirects'> & { body?: string },
    call: ToolCall,
  ): Promise<ToolOutcome> => {
    const { timeout: timeoutMs, maxBytes, responseType, throwHttpErrors } = input
    const request = { method, url: new URL(input.url), timeoutMs, maxBytes, responseType, ...over }
    return judge(request, await exchange(deps, request, call.signal), { kind, throwHttpErrors })
  }

  const read = (method: 'GET' | 'HEAD', title: string, doc: MethodDoc) =>
    defineMethod({
      name: `http.${method.toLowerCase()}`,
      kind: 'read',
      title,
      doc,
      arguments: valueAndOptions('url'),
      input: readInput,
      permissions: (input) => [input.followRedirects ? 'http:*' : permissionForUrl(new URL(input.url))],
      call: (input, call) => {
        const { headers, followRedirects } = input
        return send('read', method, input, { headers, followRedirects }, call)
      },
    })

  const mutation = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', title: string, doc: MethodDoc) =>
    defineMethod({
      name: `http.${method.toLowerCase()}`,
      kind: 'mutation',
      title,
      doc,
      arguments: valueAndOptions('url'),
      input: mutationInput,
      permissions: (input) => [permissionForUrl(new URL(input.url))],
      call: (input, call) => send('mutation', method, input, { ...bodyOf(input, call), followRedirects: false }, call),
      whereToCheck: (input) => {
        const { origin, host, pathname } = new URL(input.url)
        return `Look at ${host} whether it has received this ${method} to ${origin}${pathname}.`
      },
    })

  return [
    read('GET', 'Fetch an address', {
      signature: '(url: string, options?: HttpReadOptions) => Promise<HttpResponse>',
      text: 'Fetches an address. JSON is parsed when the answer says that it is JSON, otherwise `body` is text (`responseType` decides otherwise). An answer that is not 2xx is an error unless `throwHttpErrors` is false. Redirects are not followed unless `followRedirects` is set, which needs the permission `http:*`. No cookies are sent.',
      example:
        "const response = await ctx.http.get('https://api.example.com/items', {\n  searchParams: { page: 1 },\n  headers: { authorization: 'Bearer secret:EXAMPLE_TOKEN' },\n})\nreturn response.body",
    }),
    read('HEAD', 'Fetch the headers of an address', {
      signature: '(url: string, options?: HttpReadOptions) => Promise<HttpResponse>',
      text: 'Like `http.get`, without the body: to see whether something is there or has changed.',
      example: "const { headers } = await ctx.http.head('https://api.example.com/items')\nreturn headers.etag",
    }),
    mutation('POST', 'Send a POST request', {
      signature: '(url: string, options?: HttpMutationOptions) => Promise<HttpResponse>',
      text: 'Sends `json`, `form` or a text `body`. An `Idempotency-Key` header goes with it, the same for every attempt on the same events, unless `sendIdempotencyKey` is false; browsers repeat a request by themselves when a kept connection breaks, and a service that knows the key does it only once. A 4xx is a definite failure; a 5xx or a lost connection leaves the outcome open, and you are asked.',
      example: "await ctx.http.post('https://api.example.com/items', { json: { name: 'Ada' } })",
    }),
    mutation('PUT', 'Send a PUT request', {
      signature: '(url: string, options?: HttpMutationOptions) => Promise<HttpResponse>',
      text: 'Like `http.post`.',
      example: "await ctx.http.put('https://api.example.com/items/1', { json: { name: 'Ada' }, timeout: 10_000 })",
    }),
    mutation('PATCH', 'Send a PATCH request', {
      signature: '(url: string, options?: HttpMutationOptions) => Promise<HttpResponse>',
      text: 'Like `http.post`.',
      example: "await ctx.http.patch('https://api.example.com/items/1', { json: { done: true } })",
    }),
    mutation('DELETE', 'Send a DELETE request', {
      signature: '(url: string, options?: HttpMutationOptions) => Promise<HttpResponse>',
      text: 'Like `http.post`. With `throwHttpErrors: false` an answer such as 404 is a result, not a failure.',
      example: "await ctx.http.delete('https://api.example.com/items/1', { throwHttpErrors: false })",
    }),
  ]
}

function bodyOf(input: MutationInput, call: ToolCall): { headers: Record<string, string>; body?: string } {
  const key = input.sendIdempotencyKey && call.idempotencyKey !== null ? { 'Idempotency-Key': call.idempotencyKey } : {}
  if (input.json !== undefined) {
    const defaults = { 'Content-Type': 'application/json', ...key }
    return { headers: withDefaults(input.headers, defaults), body: JSON.stringify(input.json) }
  }
  if (input.form !== undefined) {
    const defaults = { 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8', ...key }
    const pairs = Object.entries(input.form).map(([name, value]) => [name, String(value)])
    return { headers: withDefaults(input.headers, defaults), body: new URLSearchParams(pairs).toString() }
  }
  const defaults = input.body === undefined ? key : { 'Content-Type': 'text/plain;charset=UTF-8', ...key }
  return { headers: withDefaults(input.headers, defaults), ...(input.body !== undefined && { body: input.body }) }
}
