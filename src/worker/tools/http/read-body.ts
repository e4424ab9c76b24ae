import type { Json } from '#engine/model/json.ts'
import { toBase64 } from '../base64.ts'

export const responseTypes = ['auto', 'json', 'text', 'base64'] as const
export type ResponseType = (typeof responseTypes)[number]

/** Why a response that did arrive has no usable body. */
export interface BodyProblem {
  reason: 'too_large' | 'cut_off' | 'not_json'
  message: string
}

export type Body = { ok: true; body: Json } | { ok: false; body: Json; problem: BodyProblem }

export async function readBody(response: Response, type: ResponseType, maxBytes: number): Promise<Body> {
  const read = await readBytes(response, maxBytes)
  if (!read.ok) return { ok: false, body: null, problem: read.problem }
  if (type === 'base64') return { ok: true, body: toBase64(read.bytes) }
  const contentType = response.headers.get('content-type') ?? ''
  const text = decode(read.bytes, contentType)
  const isJson = type === 'json' || (type === 'auto' && /[/+]json\b/i.test(contentType))
  if (!isJson) return { ok: true, body: text }
  if (type === 'auto' && text === '') return { ok: true, body: null }
  try {
    return { ok: true, body: JSON.parse(text) as Json }
  } catch {
    const start = text.slice(0, 80)
    return {
      ok: false,
      body: text,
      problem: { reason: 'not_json', message: `the answer is not JSON; it begins with "${start}"` },
    }
  }
}

type Bytes = { ok: true; bytes: Uint8Array } | { ok: false; problem: BodyProblem }

async function readBytes(response: Response, maxBytes: number): Promise<Bytes> {
  const tooLarge: Bytes = {
    ok: false,
    problem: { reason: 'too_large', message: `the answer is larger than ${maxBytes} bytes; see the option maxBytes` },
  }
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel().catch(() => undefined)
    return tooLarge
  }
  if (!response.body) return { ok: true, bytes: new Uint8Array() }
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { ok: true, bytes: concat(chunks, size) }
      size += value.length
      if (size > maxBytes) {
        await reader.cancel().catch(() => undefined)
        return tooLarge
      }
      chunks.push(value)
    }
  } catch {
    return { ok: false, problem: { reason: 'cut_off', message: 'the answer broke off before its end' } }
  }
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

function decode(bytes: Uint8Array, contentType: string): string {
  const charset = /charset="?([^";\s]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
