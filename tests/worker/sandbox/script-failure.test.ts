import { resolveLimits } from '#worker/sandbox/limits.ts'
import { breakdownToFailure, thrownToFailure } from '#worker/sandbox/script-failure.ts'
import { expect, test } from 'vitest'

const limits = resolveLimits()

test('a guest that reads outside its memory, as QuickJS does after an allocation failed, is told as too little memory', () => {
  const failure = breakdownToFailure(new WebAssembly.RuntimeError('memory access out of bounds'), limits)
  expect(failure).toMatchObject({ type: 'logic', message: expect.stringMatching(/of memory.*"memoryBytes"/) as string })
})

test('a guest that overflows the stack of the host is told as too deep a recursion', () => {
  const failure = breakdownToFailure(new RangeError('Maximum call stack size exceeded'), limits)
  expect(failure.message).toContain('"stackBytes"')
})

test('any other breakdown of a guest is told with its reason', () => {
  expect(breakdownToFailure(new WebAssembly.RuntimeError('unreachable'), limits).message).toContain('(unreachable)')
})

test('an error of the machine that has no room for its message is told as too little memory', () => {
  const thrown = JSON.stringify({ name: 'InternalError', message: '', internal: true })
  expect(thrownToFailure(thrown, limits).message).toContain('"memoryBytes"')
  expect(thrownToFailure(JSON.stringify({ name: 'InternalError', message: '' }), limits).message).toBe(
    'InternalError: ',
  )
})
