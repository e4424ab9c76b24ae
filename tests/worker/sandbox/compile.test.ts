import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { CompiledScript, ScriptProblem } from '#engine/ports/sandbox.ts'
import { compileScript } from '#worker/sandbox/compile.ts'

async function compiled(source: string): Promise<CompiledScript> {
  const result = await compileScript(source)
  if (!result.ok) throw new Error(result.error.map(({ message }) => message).join('\n'))
  return result.value
}

async function problems(source: string): Promise<ScriptProblem[]> {
  const result = await compileScript(source)
  if (result.ok) throw new Error(`accepted:\n${result.value.code}`)
  return result.error
}

/** Runs the code as the sandbox does: as the body of a strict function of `exports`. */
async function workflowOf(source: string): Promise<unknown> {
  const { code } = await compiled(source)
  const factory = runInNewContext(`(function(exports){"use strict";${code}\n})`, {
    defineWorkflow: (workflow: unknown) => workflow,
    defineAgent: (agent: unknown) => ({ agent }),
  }) as (exports: { default?: unknown }) => void
  const exports: { default?: unknown } = {}
  factory(exports)
  return exports.default
}

/** Nothing but spaces differ. */
const standsIn = (left: string, line: string): boolean =>
  Array.from({ length: left.length }, (_, at) => left[at] === ' ' || left[at] === line[at]).every(Boolean)

const TYPESCRIPT = `interface Mail {
  id: string
  from?: string
}
type State = { cursor: string } | null
declare const injected: number
const ids = <T extends { id: string }>(list: readonly T[]): string[] => list.map((item): string => item.id!)
function pick(this: void, a: string, b: { c: string, d: number }, d: number = 5): asserts a is 'x' {}
function over(a: string): void
function over(a: number): void
function over(a: unknown) { return \`\${a as string} \${\`\${(a as { b: { c: string } }).b.c}\`} : string \` }
abstract class Box<T> implements Iterable<T> {
  private readonly items: T[] = []; static count: number = 0
  declare ghost: string
  get first(): T | undefined { return this.items[0] as T satisfies unknown }
  abstract open(): void
  *[Symbol.iterator](): Iterator<T> { yield* this.items }
}
const { a, b }: { a: number, b: string } = { a: 1, b: 'b: string' } as const
const [x, , y = 2 as number]: number[] = [1 as any, 2, <any>3]
for (const key of ['k'] as string[]) { let value: string = key; value! += \`as string\` }
const pattern = /: string/g, ratio = (a as number) / 2 / (x as number)
export default defineWorkflow<State, 'mail'>({
  name: 'typed' as string, topics: { mail: {} as Mail }, ids, over, Box, pattern, ratio,
  async handler(state: State, ctx: Context<'mail'>): Promise<State> { return state?.cursor ? state : null },
})
`

describe('a script', () => {
  it('leaves its default export for the sandbox', async () => {
    expect(await workflowOf('export default defineWorkflow({ name: "a" })')).toEqual({ name: 'a' })
    expect(await workflowOf('export default defineAgent({ prepare: 1 })')).toEqual({ agent: { prepare: 1 } })
    expect(await workflowOf('export default ({ name: "a" })')).toEqual({ name: 'a' })
    expect(await workflowOf('export\n  default /* it */ { name: "a" }\n// the end')).toEqual({ name: 'a' })
    expect(await workflowOf('const it = { name: "a" }\nexport { it as default }')).toEqual({ name: 'a' })
  })

  it('without a default export leaves the binding called workflow', async () => {
    expect(await workflowOf('const workflow = { name: "a" }')).toEqual({ name: 'a' })
    expect(await workflowOf('let workflow = { name: "a" }; // the end')).toEqual({ name: 'a' })
    expect(await workflowOf('export const workflow = { name: "a" }')).toEqual({ name: 'a' })
    expect(await workflowOf('const workflow = { name: "a" }\nexport { workflow }')).toEqual({ name: 'a' })
  })

  it('prefers its default export to the binding called workflow', async () => {
    expect(await workflowOf('const workflow = { name: "a" }\nexport default { name: "b" }')).toEqual({ name: 'b' })
  })

  it('leaves nothing when it has no workflow', async () => {
    expect(await workflowOf('const other = { name: "a" }\nfunction inner() { const workflow = {} }')).toBeUndefined()
    expect(await workflowOf('')).toBeUndefined()
  })

  it('may use a name that looks like one of ours', async () => {
    expect(await workflowOf('const $default = { name: "a" }\nexport default { $default }')).toEqual({
      $default: { name: 'a' },
    })
  })

  it('may export other things beside', async () => {
    expect(
      await workflowOf(
        'export const a = 1, b = 2\nexport function c() { return a }\nexport class D {}\nexport default { n: c() + b }',
      ),
    ).toEqual({ n: 3 })
  })

  it('keeps apart what a removed import or export stood between', async () => {
    expect(
      await workflowOf('const log = []\nconst f = (x) => log.push(x)\nf(1)\nexport { f }\n(f)(2)\nexport default log'),
    ).toEqual([1, 2])
  })

  it('may import the authoring functions from holdfast, also by another name', async () => {
    expect(
      await workflowOf(
        "import { defineWorkflow, defineAgent } from 'holdfast'\nexport default defineWorkflow({ name: 'a' })",
      ),
    ).toEqual({ name: 'a' })
    expect(
      await workflowOf(
        "import {\n  defineWorkflow as define,\n  defineAgent as agent,\n} from 'holdfast'; const n = 1\nexport default define({ n, a: agent(2) })",
      ),
    ).toEqual({
      n: 1,
      a: { agent: 2 },
    })
  })

  it('may import types from anywhere, said to be types or only used as types', async () => {
    const source = `import type { A } from './a'; import { type B, defineWorkflow } from 'holdfast'
import { C } from 'c'
export type { D } from 'd'
export default defineWorkflow({ n: (1 as A as B as C as number) })`
    expect(await workflowOf(source)).toEqual({ n: 1 })
  })

  it('is JavaScript of its time', async () => {
    const source = `class P { #n = 1_000; static { P.s = 2 } has(o) { return #n in o } }
export default { has: new P().has(new P()), n: null ?? [1, 2].findLast((x) => x) ** 2, s: P.s, big: typeof 1n, o: undefined?.x }`
    expect(await workflowOf(source)).toEqual({ has: true, n: 4, s: 2, big: 'bigint', o: undefined })
  })

  it('may use an enum and parameter properties, which are more than types', async () => {
    expect(
      await workflowOf(
        'enum Kind { A, B = 5 }\nclass K { constructor(readonly kind: Kind) {} }\nexport default { kind: new K(Kind.B).kind }',
      ),
    ).toEqual({
      kind: 5,
    })
  })
})

describe('stripping the types of a script', () => {
  it('moves nothing: every character that is left stands where it stood', async () => {
    const { code } = await compiled(TYPESCRIPT)
    const left = code.replace('$default=', ' '.repeat('$default='.length)).split('\n')
    const moved = TYPESCRIPT.split('\n').filter((line, index) => !standsIn(left[index] ?? '', line))
    expect(moved).toEqual([])
  })

  it('does not touch what only looks like a type', async () => {
    const { code } = await compiled(TYPESCRIPT)
    expect(code).toContain("b: 'b: string' }")
    expect(code).toContain('`as string`')
    expect(code).toContain('/: string/g')
  })

  it('leaves a program that runs', async () => {
    expect(await workflowOf(TYPESCRIPT.replaceAll('declare const injected: number', ''))).toMatchObject({
      name: 'typed',
      ratio: 0.5,
    })
  })

  it('keeps the lines where more than types was rewritten', async () => {
    const { code } = await compiled(
      'enum A {\n  X,\n}\nconst f = (a: number): {\n  b: string\n} => a\nexport default { x: 1 }',
    )
    expect(code.split('\n')[6]).toContain('{ x: 1 }')
  })

  it('never changes the meaning, even where it is unclear what was taken out', async () => {
    const source =
      'const f = (s) => s\nexport default { a: f<"aa">("aa" as "aa"), b: `${"b" as "b"}b`, c: "x" as "x" as "x x" }'
    expect(await workflowOf(source)).toEqual({ a: 'aa', b: 'bb', c: 'x' })
  })

  it('ends for a source that keeps its parser going back and forth', async () => {
    const [problem] = await problems(`${'<a>('.repeat(60)}a${')'.repeat(60)}`)
    expect(problem?.message).toContain('nested too deeply')
  })
})

describe('a syntax error', () => {
  it.each([
    ['const a = }', 'Syntax error: unexpected "}".', 1, 11],
    ['const a = {\n  b: 1', 'Syntax error: unexpected end of the script, expected ",".', 2, 7],
    ['\n  const a = "text', 'Syntax error: unterminated string constant.', 2, 13],
    ['const a: string = 1; const a: string = 2', "Syntax error: identifier 'a' has already been declared.", 1, 28],
    ['function f(a: string) { return a + }', 'Syntax error: unexpected "}".', 1, 36],
    ['let a: { b: string } = 1, c = /(/', 'Syntax error: invalid regular expression: /(/: Unterminated group.', 1, 32],
    ['const a: number = 010', 'Syntax error: invalid number.', 1, 19],
    ['let y = x / @', "Syntax error: unexpected character '@'.", 1, 13],
    ['return 1', "Syntax error: 'return' outside of function.", 1, 1],
    ['@decorated class A {}', "Syntax error: unexpected character '@'.", 1, 1],
    ['\uFEFFlet a = 1\r\nlet b: number = ]', 'Syntax error: unexpected "]".', 2, 17],
  ])('in %j is told with line and column of the source', async (source, message, line, column) => {
    expect(await problems(source)).toEqual([{ severity: 'error', message, line, column }])
  })

  it.each([
    ['brackets', '['.repeat(100_000)],
    ['braces', '{'.repeat(100_000)],
    ['calls', 'f('.repeat(100_000)],
    ['operators', '!'.repeat(500_000)],
    ['sums', `x${'+(y'.repeat(100_000)}`],
  ])('of a hundred thousand nested %s is a problem, not a crash', async (_, source) => {
    const [problem] = await problems(source)
    expect(problem?.severity).toBe('error')
  })
})

describe('a script is one file, so', () => {
  const ONE_FILE = 'a workflow is one file. Only defineWorkflow and defineAgent can be imported, from "holdfast".'

  it.each([
    ['import _ from "lodash"\n_()', `The module "lodash" cannot be imported: ${ONE_FILE}`, 1, 1],
    ['let a: string = ""; import "./effects.js"', `The module "./effects.js" cannot be imported: ${ONE_FILE}`, 1, 21],
    ['import * as h from "holdfast"\nh.x()', `The module "holdfast" can only be imported by name: ${ONE_FILE}`, 1, 8],
    [
      'import { defineFlow } from "holdfast"\ndefineFlow()',
      `The module "holdfast" has no "defineFlow": ${ONE_FILE}`,
      1,
      10,
    ],
    ['export * from "./other"', `Nothing can be exported from the module "./other": ${ONE_FILE}`, 1, 1],
    ['export { a } from "./other"', `Nothing can be exported from the module "./other": ${ONE_FILE}`, 1, 1],
    ['async function f(a: string) { await import(a) }', `import() is not available: ${ONE_FILE}`, 1, 37],
    ['const fs = require("fs")', `require() is not available: ${ONE_FILE}`, 1, 12],
    ['const a = import.meta.url', 'import.meta is not available: a script has no address.', 1, 11],
    [
      'const a: number = await f()',
      'await is not available at the top level of a script. Use it inside a handler.',
      1,
      19,
    ],
    [
      'for await (const a of b) {}',
      'await is not available at the top level of a script. Use it inside a handler.',
      1,
      1,
    ],
    [
      'export default function () {}',
      'The default export is a function. It must be the workflow: export default defineWorkflow({ … }).',
      1,
      1,
    ],
    [
      'export default class {}',
      'The default export is a class. It must be the workflow: export default defineWorkflow({ … }).',
      1,
      1,
    ],
  ])('%j is refused', async (source, message, line, column) => {
    expect(await problems(source)).toEqual([{ severity: 'error', message, line, column }])
  })

  it('every such place is told at once, in order', async () => {
    const found = await problems('require("a")\nimport "b"\nconst f = () => import("c")\nexport * from "d"')
    expect(found.map(({ line }) => line)).toEqual([1, 2, 3, 4])
  })

  it('a function of its own may be called require, and a string may say anything', async () => {
    expect(
      await workflowOf('function require(x) { return x }\nexport default { a: require("import x from y") }'),
    ).toEqual({ a: 'import x from y' })
  })

  it('it may have 1 MiB and no more', async () => {
    const room = 1024 * 1024 - 'export default {}//'.length
    expect((await compileScript(`export default {}//${'x'.repeat(room)}`)).ok).toBe(true)
    expect(await problems(`export default {}//${'é'.repeat(room)}`)).toEqual([
      {
        severity: 'error',
        message: 'The script is 2097133 bytes long; at most 1048576 (1 MiB) are allowed.',
        line: 1,
        column: 1,
      },
    ])
  })
})
