import * as v from 'valibot'
import type { Json, JsonObject } from '#engine/model/json.ts'
import type { LlmConnection } from './connection.ts'

export interface Question {
  prompt: string
  system: string | undefined
  model: string
  maxTokens: number
  temperature: number | undefined
  schema: JsonObject | undefined
}

export interface Reply {
  text: string
  /** Set when a schema was asked for and the provider answered in it by itself. */
  structured: Json | undefined
  model: string
  inputTokens: number
  outputTokens: number
  isCutOff: boolean
}

/** How one kind of endpoint is spoken to. */
export interface Provider {
  path: string
  headers(apiKey: string | undefined): Record<string, string>
  body(question: Question): JsonObject
  /** Undefined when it is not an answer of such an endpoint. */
  read(body: Json): Reply | undefined
}

const tokens = v.fallback(v.pipe(v.number(), v.integer(), v.minValue(0)), 0)

const openAiAnswer = v.object({
  model: v.optional(v.string(), ''),
  choices: v.pipe(
    v.array(
      v.object({ message: v.object({ content: v.nullish(v.string(), '') }), finish_reason: v.nullish(v.string(), '') }),
    ),
    v.minLength(1),
  ),
  usage: v.optional(v.object({ prompt_tokens: tokens, completion_tokens: tokens }), {
    prompt_tokens: 0,
    completion_tokens: 0,
  }),
})

const openAi: Provider = {
  path: '/chat/completions',
  headers: (apiKey) => (apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
  body: ({ prompt, system, model, maxTokens, temperature, schema }) => ({
    model,
    max_tokens: maxTokens,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: prompt },
    ],
    ...(temperature !== undefined && { temperature }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
  }),
  read(body) {
    const parsed = v.safeParse(openAiAnswer, body)
    const choice = parsed.success ? parsed.output.choices[0] : undefined
    if (!parsed.success || !choice) return undefined
    return {
      text: choice.message.content,
      structured: undefined,
      model: parsed.output.model,
      inputTokens: parsed.output.usage.prompt_tokens,
      outputTokens: parsed.output.usage.completion_tokens,
      isCutOff: choice.finish_reason === 'length',
    }
  },
}

const anthropicAnswer = v.object({
  model: v.optional(v.string(), ''),
  content: v.array(
    v.object({ type: v.string(), text: v.optional(v.string(), ''), input: v.optional(v.custom<Json>(() => true)) }),
  ),
  stop_reason: v.nullish(v.string(), ''),
  usage: v.optional(v.object({ input_tokens: tokens, output_tokens: tokens }), { input_tokens: 0, output_tokens: 0 }),
})

const anthropic: Provider = {
  path: '/messages',
  headers: (apiKey) => ({
    'anthropic-version': '2023-06-01',
    // Without it Anthropic refuses every page: the key is the user's own and never leaves this device otherwise.
    'anthropic-dangerous-direct-browser-access': 'true',
    ...(apiKey !== undefined && { 'x-api-key': apiKey }),
  }),
  body: ({ prompt, system, model, maxTokens, temperature, schema }) => ({
    model,
    max_tokens: maxTokens,
    messages: [{ role: 'user', content: prompt }],
    ...(system !== undefined && { system }),
    ...(temperature !== undefined && { temperature }),
    ...(schema && {
      tools: [{ name: 'answer', description: 'Give the answer in this form.', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'answer' },
    }),
  }),
  read(body) {
    const parsed = v.safeParse(anthropicAnswer, body)
    if (!parsed.success) return undefined
    const { content, model, stop_reason, usage } = parsed.output
    return {
      text: content.map(({ text }) => text).join(''),
      structured: content.find(({ type }) => type === 'tool_use')?.input,
      model,
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      isCutOff: stop_reason === 'max_tokens',
    }
  },
}

export const providers: Record<LlmConnection['provider'], Provider> = { openai: openAi, anthropic }
