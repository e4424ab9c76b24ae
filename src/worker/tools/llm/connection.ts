import * as v from 'valibot'
import { readAddress } from '../http/address.ts'

/** An endpoint that the user has set up: any OpenAI-compatible one, also on this computer, or Anthropic's. */
export const llmConnectionSchema = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[\w][\w .-]{0,63}$/, 'must be a short name')),
  provider: v.picklist(['openai', 'anthropic']),
  /** Up to and including the version: `https://api.openai.com/v1`. */
  baseUrl: v.pipe(
    v.string(),
    v.check((text) => readAddress(text).ok, 'must be an https:// address, or http:// on this computer'),
  ),
  model: v.pipe(v.string(), v.minLength(1)),
  /** `secret:NAME`; without one the endpoint is asked without a key. */
  apiKey: v.exactOptional(v.pipe(v.string(), v.regex(/^secret:[A-Za-z]\w*$/, 'must be written as secret:NAME'))),
  /** Dollars for a million tokens, which is the same as micro-dollars for one. */
  inputPrice: v.optional(v.pipe(v.number(), v.minValue(0)), 0),
  outputPrice: v.optional(v.pipe(v.number(), v.minValue(0)), 0),
})
export type LlmConnection = v.InferOutput<typeof llmConnectionSchema>

export interface LlmSettings {
  /** The first one is used when a script names none. */
  connections(): Promise<readonly LlmConnection[]>
}
