import { Script } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileScript } from '#worker/sandbox/compile.ts'

const wrap = (code: string) => `(function(exports){"use strict";${code}\n})`

function run(code: string): unknown {
  const exports: { default?: unknown } = {}
  const factory = new Script(wrap(code)).runInThisContext() as (exports: object) => void
  factory(exports)
  return JSON.parse(JSON.stringify(exports.default)) as unknown
}

const types = fc.constantFrom(
  'string',
  'a',
  '"a" | \'b: c\'',
  '{ a: string, b?: number }',
  '{ a: { b: [a, b] } }[]',
  '(a: string, b: number) => a',
  'Record<a, Map<b, `x${string}`>>',
  'typeof f',
  'A extends B ? "a" : b',
  'readonly [a?: string, ...b: number[]]',
  '/* a: b */ any',
)
const values = fc.constantFrom(
  '1',
  '"a: string"',
  '`${1 + 1} as b`',
  '{ a: 1, b: "x as y" }',
  '[1, "b"]',
  '/a: b/.test("a: b")',
  '(1 < 2)',
)
/** Each place has the text with its types and the text without. */
const optionally = (types: fc.Arbitrary<string>, toText: (type: string) => string) =>
  fc.option(types, { nil: undefined }).map((type) => (type === undefined ? '' : toText(type)))
const annotation = optionally(types, (type) => `: ${type}`)
const assertion = optionally(types, (type) => ` as ${type === 'typeof f' ? 'any' : type}`)
const generics = optionally(fc.constantFrom('T', 'T extends { a: "b" }', 'T = { a: b }, U = a'), (list) => `<${list}>`)

const programs = fc
  .record({
    values: fc.tuple(values, values, values),
    annotations: fc.tuple(annotation, annotation, annotation, annotation),
    assertions: fc.tuple(assertion, assertion),
    generics,
    isMultiline: fc.boolean(),
  })
  .map(({ values: [a, b, c], annotations: [t, u, v, w], assertions: [as, bs], generics: g, isMultiline }) => {
    const write = (typed: boolean) => {
      const only = (text: string) => (typed ? text : '')
      return [
        `const a${only(t)} = ${a}${only(as)};`,
        `function f${only(g)}(a${only(u)}, b${only(v)} = ${b})${only(w)} { return [a, b${only('!')}] }`,
        `export default { a: a, f: f(${c}${only(bs)}), c: ${c}, name: "n" }${only(' satisfies object')}`,
      ].join(isMultiline ? '\n' : ' ')
    }
    return { typed: write(true), plain: write(false) }
  })

/** Only to be patient with a busy machine. */
const PATIENCE_MS = 60_000

const fragments = fc.constantFrom(
  ...[
    'export default',
    'export',
    'import',
    'from "x"',
    'const a',
    '=',
    ':',
    'string',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '<',
    '>',
    '=>',
    ',',
  ],
  ...[
    ';',
    '\n',
    '\r\n',
    '`',
    '${',
    '"',
    "'",
    '/',
    '*',
    '//',
    '/*',
    '*/',
    'as',
    'satisfies',
    'type',
    'interface',
    'enum',
    'class',
    'async',
  ],
  ...[
    'await',
    'function',
    'return',
    'if',
    'for',
    '...',
    '?',
    '!',
    '@',
    '#',
    '\\',
    '\0',
    '\u2028',
    '🎈',
    '\ud800',
    '0',
    '1n',
    'workflow',
    'x',
  ],
)

describe('compiling', () => {
  it(
    'never fails for any text: it is a script or has problems, and what is a script can be evaluated',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fragments, { maxLength: 25 }), async (parts) => {
          const result = await compileScript(parts.join(' '))
          if (result.ok) new Script(wrap(result.value.code))
          else expect(result.error.length).toBeGreaterThan(0)
        }),
        { numRuns: 1000 },
      )
    },
    PATIENCE_MS,
  )

  it(
    'takes types out without changing what a script does or where its parts are',
    async () => {
      await fc.assert(
        fc.asyncProperty(programs, async ({ typed, plain }) => {
          const [withTypes, without] = [await compileScript(typed), await compileScript(plain)]
          if (!withTypes.ok || !without.ok) throw new Error(JSON.stringify([withTypes, without]))
          expect(run(withTypes.value.code)).toEqual(run(without.value.code))
          const before = typed.slice(0, typed.lastIndexOf('name:')).split('\n')
          expect(withTypes.value.positionOf(['name'])).toEqual({
            line: before.length,
            column: (before.at(-1)?.length ?? 0) + 1,
          })
        }),
        { numRuns: 200 },
      )
    },
    PATIENCE_MS,
  )
})
