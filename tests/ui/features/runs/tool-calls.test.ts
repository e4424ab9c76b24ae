import { splitLogs } from '#ui/features/runs/tool-calls.ts'
import { expect, it } from 'vitest'

it('the log of a phase is told apart into what the host did and what the script said', () => {
  const line = { at: 1, phase: 'preparing', level: 'info', data: null } as const
  const { calls, words } = splitLogs([
    { ...line, message: 'hello' },
    { ...line, message: 'http.get', data: '{"op":"http.get","params":{"url":"x"},"ms":12}' },
    { ...line, message: 'http.get: refused', data: '{"op":"http.get","params":{"url":"y"},"ms":3}' },
    { ...line, message: 'with data', data: '{"n":1}' },
  ])
  expect(words.map(({ message }) => message)).toEqual(['hello', 'with data'])
  expect(calls).toEqual([
    { at: 1, op: 'http.get', params: '{"url":"x"}', ms: 12, error: null },
    { at: 1, op: 'http.get', params: '{"url":"y"}', ms: 3, error: 'http.get: refused' },
  ])
})
