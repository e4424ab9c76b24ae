import * as v from 'valibot'
import { failure } from '#engine/model/errors.ts'
import type { Json, JsonObject } from '#engine/model/json.ts'
import type { ToolCall, ToolOutcome } from '#engine/ports/tools.ts'
import { defineMethod, oneObject, type DocumentedMethod } from '../define-method.ts'
import type { HttpDeps } from '../http/deps.ts'
import { exchange } from '../http/exchange.ts'
import { judge } from '../http/judge.ts'
import { refused, succeeded } from '../outcomes.ts'
import type { LlmConnection, LlmSettings } from './connection.ts'
import { problemWithValue } from './json-schema.ts'
import { providers, type Reply } from './provider.ts'

const MAX_BYTES = 2 * 1024 * 1024

const common = {
  prompt: v.pipe(v.string(), v.minLength(1)),
  system: v.exactOptional(v.string()),
  connection: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
  model: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
  maxTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200_000)), 1_024),
  temperature: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
  timeout: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(300_000)), 55_000),
}
const textInput = v.strictObject(common)
const jsonInput = v.strictObject({
  ...common,
  schema: v.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be a JSON Schema object',
  ),
})
type Input = v.InferOutput<typeof textInput> & { schema?: JsonObject }

type Answer = { ok: true; reply: Reply; cost: number } | { ok: false; outcome: ToolOutcome }

export function createLlmTools(deps: HttpDeps & { llm: LlmSettings }): DocumentedMethod[] {
  const permissions = ({ connection }: Input) => [connection === undefined ? 'llm' : `llm:${connection}`]

  async function ask(input: Input, call: ToolCall): Promise<Answer> {
    const connections = await deps.llm.connections()
    const connection = connections.find(({ name }) => input.connection === undefined || name === input.connection)
    if (!connection) return { ok: false, outcome: refused('auth', noConnection(input.connection)) }
    const provider = providers[connection.provider]
    const { prompt, system, maxTokens, temperature, schema, timeout: timeoutMs } = input
    const question = { prompt, system, model: input.model ?? connection.model, maxTokens, temperature, schema }
    const request = {
      method: 'POST' as const,
      url: new URL(connection.baseUrl.replace(/\/$/, '') + provider.path),
      headers: { 'Content-Type': 'application/json', ...provider.headers(connection.apiKey) },
      body: JSON.stringify(provider.body(question)),
      timeoutMs,
      maxBytes: MAX_BYTES,
      responseType: 'json' as const,
      followRedirects: false,
    }
    // Asking changes nothing but the bill: it may be asked again.
    const result = await exchange(deps, request, call.signal)
    const outcome = judge(request, result, { kind: 'read', throwHttpErrors: true })
    if (outcome.kind === 'failed' || result.kind !== 'answered') return { ok: false, outcome }
    const reply = provider.read(result.answer.body)
    if (reply) return { ok: true, reply, cost: costOf(connection, reply) }
    const message = `${request.url.host} does not answer like ${connection.provider}: check the address of the connection`
    return { ok: false, outcome: refused('logic', message) }
  }

  return [
    defineMethod({
      name: 'llm.text',
      kind: 'read',
      isCharged: true,
      title: 'Ask a language model',
      doc: {
        signature: '(question: LlmQuestion) => Promise<{ text: string } & LlmUsage>',
        text: 'Asks the language model of a connection that you have set up. What it cost is recorded with the run, in millionths of a dollar.',
        example:
          "const { text } = await ctx.llm.text({ prompt: 'Summarise: Ada would like to order again.' })\nreturn text",
      },
      arguments: oneObject,
      input: textInput,
      permissions,
      async call(input, call) {
        const answer = await ask(input, call)
        if (!answer.ok) return answer.outcome
        return succeeded({ text: answer.reply.text, ...usageOf(answer) }, answer.cost)
      },
    }),
    defineMethod({
      name: 'llm.json',
      kind: 'read',
      isCharged: true,
      title: 'Ask a language model for data',
      doc: {
        signature: '(question: LlmQuestion & { schema: object }) => Promise<{ value: Json } & LlmUsage>',
        text: 'Asks for an answer that fits a JSON Schema, and checks that it does. One that does not fit counts as a passing failure: it is asked again later.',
        example:
          "const { value } = await ctx.llm.json({\n  prompt: 'Is this urgent? Ada would like to order again.',\n  schema: { type: 'object', properties: { urgent: { type: 'boolean' } }, required: ['urgent'] },\n})\nreturn value.urgent",
      },
      arguments: oneObject,
      input: jsonInput,
      permissions,
      async call(input, call) {
        const answer = await ask(input, call)
        if (!answer.ok) return answer.outcome
        const { reply, cost } = answer
        const value = reply.structured ?? readJson(reply.text)
        if (value === undefined && reply.isCutOff) {
          return { ...refused('logic', 'The answer was cut off; raise maxTokens'), cost }
        }
        const problem = value === undefined ? 'the answer is not JSON' : problemWithValue(input.schema, value)
        if (problem !== undefined || value === undefined) {
          const message = `The language model did not keep to the schema: ${problem ?? ''}`
          return { kind: 'failed', certainty: 'definite', failure: failure('network', message), cost }
        }
        return succeeded({ value, ...usageOf(answer) }, cost)
      },
    }),
  ]
}

const noConnection = (name: string | undefined): string =>
  name === undefined
    ? 'No language model is set up. Add a connection under Settings, Connections and secrets, then retry.'
    : `There is no language model "${name}". Add it under Settings, Connections and secrets, then retry.`

const usageOf = ({ reply, cost }: { reply: Reply; cost: number }): JsonObject => ({
  model: reply.model,
  inputTokens: reply.inputTokens,
  outputTokens: reply.outputTokens,
  isCutOff: reply.isCutOff,
  costMicros: cost,
})

/** In whole millionths of a dollar, never less than what was used. */
const costOf = ({ inputPrice, outputPrice }: LlmConnection, { inputTokens, outputTokens }: Reply): number =>
  Math.ceil(inputTokens * inputPrice + outputTokens * outputPrice)

/** Models like to wrap JSON into a code fence. */
function readJson(text: string): Json | undefined {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1]
  try {
    return JSON.parse(fenced ?? text) as Json
  } catch {
    return undefined
  }
}
