import { describe, expect, it } from 'vitest'
import { alignColumns } from '#worker/sandbox/align-columns.ts'
import { parseStripped } from '#worker/sandbox/syntax-tree.ts'

describe('aligning stripped code with its source', () => {
  it.each([
    ['const x: number = 1', 'const x = 1', 'const x         = 1'],
    ['f(a: A, b: { a, b }, b)', 'f(a, b, b)', 'f(a   , b          , b)'],
    ['f<b>(b as b, b)', 'f(b , b)', 'f   (b     , b)'],
    ['interface A { b: c }', '', ''],
    ['enum A { B }', 'var A; (function (A) {})', 'var A; (function (A) {})'],
  ])('fills %j', (source, stripped, aligned) => {
    expect(alignColumns(source, stripped)).toBe(aligned)
  })

  it('gives up on a line that would take too long, and leaves it as it is', () => {
    const source = `${'a:'.repeat(20_000)}b`
    const stripped = `${'a'.repeat(20_000)}b`
    expect(alignColumns(source, stripped)).toBe(stripped)
  })
})

describe('aligned code', () => {
  const codeOf = async (stripped: string, aligned: string) => {
    const tree = await parseStripped({ stripped, aligned })
    return tree.ok ? tree.value.code : tree.error
  }

  it('is used when it is the same program', async () => {
    expect(await codeOf('a = b', 'a   = b')).toBe('a   = b')
  })

  it.each([
    ['a = "xy"', 'a = "x  y"'],
    ['a = `xy`', 'a = `x  y`'],
    ['a = /xy/', 'a = /x  y/'],
    ['ab = 1', 'a  b = 1'],
    ['a += 1', 'a + = 1'],
  ])('is not used when a guess has changed %j to %j', async (stripped, aligned) => {
    expect(await codeOf(stripped, aligned)).toBe(stripped)
  })

  it('gives a syntax error its column', async () => {
    expect(await codeOf('let a = 1, a', 'let a         = 1, a')).toMatchObject({ line: 1, column: 20 })
  })
})
