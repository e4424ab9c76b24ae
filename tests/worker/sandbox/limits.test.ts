import { limitFailure, resolveLimits, type LimitName } from '#worker/sandbox/limits.ts'
import { expect, test } from 'vitest'

const names = Object.keys(resolveLimits()) as LimitName[]

test('the defaults are those of the specification', () => {
  const MiB = 1024 * 1024
  expect(resolveLimits()).toMatchObject({
    cpuMs: 5_000,
    wallMs: 60_000,
    memoryBytes: 64 * MiB,
    stackBytes: 128 * 1024,
    valueBytes: 8 * MiB,
    stateBytes: MiB,
    logLines: 1_000,
    logBytes: 256 * 1024,
    errorChars: 2_000,
    hostCallsInFlight: 64,
  })
})

test('a workflow can ask for less and for more, but not for more than the host can bear', () => {
  expect(resolveLimits({ cpuMs: 100 }).cpuMs).toBe(100)
  expect(resolveLimits({ cpuMs: 30_000 }).cpuMs).toBe(30_000)
  expect(resolveLimits({ cpuMs: 1e9 }).cpuMs).toBe(60_000)
  expect(resolveLimits({ stackBytes: 1e9 }).stackBytes).toBe(128 * 1024)
})

test.each([0, -1, NaN])('a limit of %s means the default, never none', (value) => {
  expect(resolveLimits({ cpuMs: value, memoryBytes: value })).toEqual(resolveLimits())
})

test.each(names)('a failure by %s is one of logic, names the limit and says what to do', (name) => {
  const { type, message } = limitFailure(name, 1)
  expect(type).toBe('logic')
  expect(message).toContain(`raise the limit "${name}" in the workflow's settings (at most `)
  expect(limitFailure(name, Number.MAX_SAFE_INTEGER).message).toContain(`the limit "${name}" is as high as it can be`)
})
