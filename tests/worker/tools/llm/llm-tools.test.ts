import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as v from 'valibot'
import type { Json, JsonObject } from '#engine/model/json.ts'
import { llmConnectionSchema } from '#worker/tools/llm/connection.ts'
import { problemWithValue } from '#worker/tools/llm/json-schema.ts'
import { createLlmTools } from '#worker/tools/llm/llm-tools.ts'
import { callTool, methodOf, paramsOf, valueOf } from '../../../support/call-tool.ts'
import { startMisbehavingServer, type MisbehavingServer } from '../../../support/misbehaving-server.ts'
import { createHttpKit, finderOf } from '../../../support/tool-kit.ts'

let server: MisbehavingServer
beforeAll(async () => {
  server = await startMisbehavingServer()
})
afterAll(() => server.close())

type Provider = 'openai' | 'anthropic'
const KEY = 'sk-a-very-secret-key'

async function setUp(provider: Provider, { hasKey = true } = {}) {
  const kit = createHttpKit()
  await kit.vault.put({ name: 'LLM_KEY', value: KEY, hosts: [server.host] })
  const connection = v.parse(llmConnectionSchema, {
    name: 'mine',
    provider,
    baseUrl: `${server.url}/${provider}`,
    model: 'small',
    ...(hasKey && { apiKey: 'secret:LLM_KEY' }),
    inputPrice: 0.25,
    outputPrice: 2,
  })
  return finderOf(createLlmTools({ ...kit, llm: { connections: () => Promise.resolve([connection]) } }))
}

const paths: Record<Provider, string> = { openai: '/openai/chat/completions', anthropic: '/anthropic/messages' }

/** How each of them says the same thing. */
const wordings: Record<Provider, (text: string, isCutOff?: boolean) => Json> = {
  openai: (text, isCutOff = false) => ({
    model: 'small-1',
    choices: [{ message: { content: text }, finish_reason: isCutOff ? 'length' : 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  }),
  anthropic: (text, isCutOff = false) => ({
    model: 'small-1',
    content: [{ type: 'text', text }],
    stop_reason: isCutOff ? 'max_tokens' : 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
}

const answerWith = (provider: Provider, body: Json, status = 200) =>
  server.on(paths[provider], (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  )
const lastBody = () => JSON.parse(server.received.at(-1)?.body ?? '{}') as JsonObject

describe.each(['openai', 'anthropic'] as const)('a connection of the kind %s', (provider) => {
  const schema = { type: 'object', properties: { urgent: { type: 'boolean' } }, required: ['urgent'] }

  it('is asked with the user’s key, and what it cost is recorded in whole millionths', async () => {
    const tools = await setUp(provider)
    answerWith(provider, wordings[provider]('Hello'))
    const outcome = await callTool(tools, 'llm.text', [{ prompt: 'Hi', system: 'Be brief', temperature: 0 }])
    // 10 × 0.25 + 5 × 2, rounded up.
    expect(outcome).toMatchObject({
      kind: 'ok',
      cost: 13,
      value: { text: 'Hello', model: 'small-1', inputTokens: 10, outputTokens: 5, costMicros: 13, isCutOff: false },
    })
    const headers = server.received.at(-1)?.headers
    expect(headers?.[provider === 'openai' ? 'authorization' : 'x-api-key']).toContain(KEY)
    expect(lastBody()).toMatchObject({ model: 'small', max_tokens: 1_024, temperature: 0 })
    expect(JSON.stringify(lastBody())).toContain('Be brief')
  })

  it('gives data that fits the schema', async () => {
    const tools = await setUp(provider)
    answerWith(provider, wordings[provider]('```json\n{"urgent":true}\n```'))
    expect(await valueOf(tools, 'llm.json', [{ prompt: 'Urgent?', schema }])).toMatchObject({ value: { urgent: true } })
    expect(JSON.stringify(lastBody())).toContain('"urgent":{"type":"boolean"}')
  })

  it.each([
    ['{"urgent":"very"}', 'the answer.urgent should be boolean, not string'],
    ['{}', 'the answer has no "urgent"'],
    ['I think so', 'the answer is not JSON'],
  ])('that answers %s has failed for now, at its price', async (text, problem) => {
    const tools = await setUp(provider)
    answerWith(provider, wordings[provider](text))
    const outcome = await callTool(tools, 'llm.json', [{ prompt: 'Urgent?', schema }])
    expect(outcome).toMatchObject({ kind: 'failed', cost: 13, failure: { type: 'network' } })
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining(problem))
  })

  it('that was cut off says what to raise', async () => {
    const tools = await setUp(provider)
    answerWith(provider, wordings[provider]('{"urg', true))
    const outcome = await callTool(tools, 'llm.json', [{ prompt: 'Urgent?', schema }])
    expect(outcome).toMatchObject({ failure: { type: 'logic', message: 'The answer was cut off; raise maxTokens' } })
  })

  it.each([
    [401, 'auth'],
    [403, 'permission'],
    [429, 'network'],
    [529, 'network'],
    [400, 'logic'],
  ])('that answers %s fails as %s', async (status, type) => {
    const tools = await setUp(provider)
    answerWith(provider, { error: 'no' }, status)
    expect(await callTool(tools, 'llm.text', [{ prompt: 'Hi' }])).toMatchObject({ kind: 'failed', failure: { type } })
  })

  it('that is something else entirely is named as such', async () => {
    const tools = await setUp(provider)
    answerWith(provider, { hello: 'world' })
    const outcome = await callTool(tools, 'llm.text', [{ prompt: 'Hi' }])
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining(`does not answer like ${provider}`))
  })
})

describe('Anthropic’s own way of giving data', () => {
  it('is understood', async () => {
    const tools = await setUp('anthropic')
    answerWith('anthropic', { content: [{ type: 'tool_use', input: { n: 1 } }], stop_reason: 'tool_use' })
    const value = await valueOf(tools, 'llm.json', [{ prompt: 'x', schema: { type: 'object' } }])
    expect(value).toMatchObject({ value: { n: 1 }, costMicros: 0 })
  })
})

describe('connections', () => {
  it('are needed', async () => {
    const kit = createHttpKit()
    const tools = finderOf(createLlmTools({ ...kit, llm: { connections: () => Promise.resolve([]) } }))
    expect(await callTool(tools, 'llm.text', [{ prompt: 'x' }])).toMatchObject({ failure: { type: 'auth' } })
    const named = await callTool(await setUp('openai'), 'llm.text', [{ prompt: 'x', connection: 'other' }])
    expect(named).toHaveProperty('failure.message', expect.stringContaining('There is no language model "other"'))
  })

  it('on this computer need no key', async () => {
    const tools = await setUp('openai', { hasKey: false })
    answerWith('openai', wordings.openai('Hello'))
    await valueOf(tools, 'llm.text', [{ prompt: 'x' }])
    expect(server.received.at(-1)?.headers).not.toHaveProperty('authorization')
  })

  it('are the permission that is needed', async () => {
    const tools = await setUp('openai')
    const permissions = (params: JsonObject) =>
      methodOf(tools, 'llm.text').permissionsFor(paramsOf(tools, 'llm.text', { prompt: 'x', ...params }))
    expect(permissions({})).toEqual(['llm'])
    expect(permissions({ connection: 'mine' })).toEqual(['llm:mine'])
  })

  it.each([
    [{ apiKey: KEY }, 'must be written as secret:NAME'],
    [{ baseUrl: 'http://example.com' }, 'must be an https:// address'],
    [{ provider: 'other' }, 'Invalid type'],
  ])('with %o are refused', (over, message) => {
    const connection = { name: 'x', provider: 'openai', baseUrl: 'https://x.example/v1', model: 'm', ...over }
    const parsed = v.safeParse(llmConnectionSchema, connection)
    expect(parsed.issues?.[0].message).toContain(message)
  })
})

describe('the check against a schema', () => {
  it.each<[Json, Json, string | undefined]>([
    [{ type: 'string' }, 'a', undefined],
    [{ type: ['string', 'null'] }, null, undefined],
    [{ type: 'integer' }, 1.5, 'the answer should be integer, not number'],
    [{ type: 'number' }, 1, undefined],
    [{ type: 'array', items: { type: 'number' } }, [1, 'b'], 'the answer[1] should be number, not string'],
    [{ type: 'array', minItems: 1 }, [], 'the answer is below 1'],
    [{ enum: ['a', 'b'] }, 'c', 'the answer should be one of ["a","b"]'],
    [{ const: 1 }, 2, 'the answer should be 1'],
    [{ minimum: 0, maximum: 10 }, 11, 'the answer is above 10'],
    [{ minLength: 2 }, 'a', 'the answer is below 2'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, 'the answer fits none of the forms it may have'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, undefined],
    [{ allOf: [{ type: 'number' }, { minimum: 5 }] }, 4, 'the answer is below 5'],
    [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, 'the answer.b should not be there'],
    [{ required: ['constructor'] }, {}, 'the answer has no "constructor"'],
    [
      { properties: { a: { type: 'object', properties: { b: { type: 'number' } } } } },
      { a: { b: '' } },
      'the answer.a.b should be number, not string',
    ],
    [true, 1, undefined],
    [{ description: 'anything' }, { a: 1 }, undefined],
  ])('of %j by %j finds: %s', (schema, value, problem) => {
    expect(problemWithValue(schema, value)).toBe(problem)
  })
})
