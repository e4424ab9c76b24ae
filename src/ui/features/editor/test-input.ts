import type { Json } from '#engine/model/json.ts'
import { parseTestInput, type TestEvent, type TestInput } from '#engine/model/test-input.ts'
import type { TestInputFound } from '#worker/api.ts'
import { readJson } from '../../kit/json-text.ts'

/** As a person reads and changes it. A handler that subscribes to nothing has no events to look at. */
export function inputToText({ state, events }: TestInput, topics: readonly string[]): string {
  return JSON.stringify(topics.length === 0 ? { state } : { state, events }, null, 2)
}

export const foundToInput = ({ state, events }: Pick<TestInputFound, 'state' | 'events'>): TestInput => ({
  state: state === null ? null : (JSON.parse(state) as Json),
  events: events.map(({ topic, messageId, title, payload }): TestEvent => ({
    topic,
    messageId,
    ...(title !== null && { title }),
    payload: JSON.parse(payload) as Json,
  })),
})

/** To begin with, where there is nothing to copy. */
export const sampleInput = (topics: readonly string[]): TestInput => ({
  state: null,
  events: topics.slice(0, 1).map((topic) => ({ topic, messageId: 'sample-1', title: 'A sample', payload: {} })),
})

export function textToInput(text: string): { input: TestInput } | { problem: string } {
  const read = readJson(text)
  if ('problem' in read) return read
  const parsed = parseTestInput(read.value)
  return parsed.ok ? { input: parsed.value } : { problem: parsed.error.message }
}
