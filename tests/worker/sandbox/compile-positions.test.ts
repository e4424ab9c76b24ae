import { describe, expect, it } from 'vitest'
import { compileScript } from '#worker/sandbox/compile.ts'

/** The position of a path is where a `◆` stands in the source; the mark itself is taken out. */
async function expectAt(path: string, marked: string): Promise<void> {
  const offset = marked.indexOf('◆')
  const lines = marked.slice(0, offset).split('\n')
  const result = await compileScript(marked.replace('◆', ''))
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  const at = result.value.positionOf(path === '' ? [] : path.split('.'))
  expect(at).toEqual({ line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 })
}

describe('a part of the workflow', () => {
  it.each([
    ['the workflow itself', '', 'const a: string = 1\nexport default ◆defineWorkflow({ name: "x" })'],
    ['a key', 'name', 'export default defineWorkflow({ ◆name: "x" })'],
    [
      'a nested key',
      'producers.poll.schedule.interval',
      'export default {\n  producers: {\n    poll: {\n      schedule: { ◆interval: "5m" },\n    },\n  },\n}',
    ],
    ['a quoted key', 'topics.mail/in', 'export default { topics: { a: {}, ◆"mail/in": {} } }'],
    ['a method', 'consumers.c.prepare', 'export default { consumers: { c: { subscribe: [], ◆async prepare() {} } } }'],
    ['a number as a key', 'topics.5', 'export default { topics: { ◆5: {} } }'],
    ['a computed key that is written out', 'topics.a', 'export default { topics: { ◆["a"]: {} } }'],
    ['an element of a list', 'permissions.1', 'export default { permissions: ["a", ◆5] }'],
    [
      'a key called constructor',
      'producers.constructor',
      'export default { producers: { toString: 1, ◆constructor: {} } }',
    ],
    ['a shorthand', 'topics', 'const topics = {}\nexport default { ◆topics }'],
    ['the last of two keys, which is the one that counts', 'name', 'export default { name: "a", ◆name: "b" }'],
  ])('%s is found', async (_, path, marked) => {
    await expectAt(path, marked)
  })

  it.each([
    ['a type before it', 'name', 'export default { topics: {} as Record<string, { name: string }>, ◆name: "x" }'],
    ['generic arguments before it', 'name', 'export default defineWorkflow<{ name: string }, "name">({ ◆name: "x" })'],
    [
      'an annotated function before it',
      'next',
      'export default { consumers: {}, prepare(state: { next: string }, ctx: Ctx): void {}, ◆next: 1 }',
    ],
    ['an assertion before it', 'name', 'export default { topics: x!, list: <any>y, ◆name: "x" } satisfies Workflow'],
    ['a template before it', 'name', 'export default { title: `${a as string} ${b!}: string`, ◆name: "x" }'],
    ['wide characters before it', 'name', 'export default { title: "🎈é" as string, ◆name: "x" }'],
  ])('has the column of the source with %s on its line', async (_, path, marked) => {
    await expectAt(path, marked)
  })

  it.each([
    [
      'a name at the top level',
      'producers.poll.schedule',
      'const poll: Producer = { ◆schedule: {} }\nexport default { producers: { poll } }',
    ],
    ['a name that stands for a name', 'name', 'const a = { ◆name: "x" }\nconst b = a\nexport default b'],
    ['the binding called workflow', 'name', 'const workflow = { ◆name: "x" }'],
    ['an export list', 'name', 'const it = { ◆name: "x" }\nexport { it as default }'],
    ['parentheses', 'name', 'export default (({ ◆name: "x" }))'],
    ['a function around it', 'name', 'export default Object.freeze(defineWorkflow({ ◆name: "x" }))'],
    ['a spread', 'topics.a', 'const base = { topics: { ◆a: {} } }\nexport default { ...base, name: "x" }'],
    ['a spread inside a spread', 'name', 'const a = { ◆name: "x" }, b = { ...a }\nexport default { ...b }'],
    ['a key that comes after a spread', 'name', 'const base = { name: "x" }\nexport default { ...base, ◆name: "y" }'],
    ['a list by name', 'permissions.0', 'const list = [◆"a"]\nexport default { permissions: list }'],
  ])('is found through %s', async (_, path, marked) => {
    await expectAt(path, marked)
  })

  it.each([
    ['is missing', 'producers.poll.schedule', 'export default { producers: { ◆poll: {} } }'],
    ['is computed', 'producers.poll.schedule', 'export default { ◆producers: { [name]: { schedule: {} } } }'],
    ['is made by a function', 'producers.poll.schedule', 'export default { producers: { ◆poll: make() } }'],
    ['stands for itself', 'name', 'const a = b, b = a\nexport default ◆a'],
    ['is spread into itself', 'name', 'const a = { ...a, x: 1 }\nexport default ◆{ ...a }'],
    ['follows a spread in a list', 'permissions.1', 'export default { ◆permissions: [...more, "b"] }'],
    ['is beyond the end of a list', 'permissions.3', 'export default { ◆permissions: ["a"] }'],
    ['is no longer inside an object', 'name.first', 'export default { ◆name: "x" }'],
    ['is only on the prototype', 'topics.toString', 'export default { ◆topics: {} }'],
  ])('that %s has the position of the nearest part around it', async (_, path, marked) => {
    await expectAt(path, marked)
  })

  it('of an agent is found where the agent says it', async () => {
    await expectAt('consumers.task.prepare', 'export default defineAgent({ ◆prepare: 1 })')
    await expectAt(
      'consumers.task.mutate',
      'import { defineAgent as agent } from "holdfast"\nconst a = agent({ ◆mutate: 1 })\nexport default a',
    )
    await expectAt('permissions.0', 'export default defineAgent({ permissions: [◆5] })')
    await expectAt('consumers.task.next', 'export default ◆defineAgent({})')
  })

  it('of a script without a workflow is its beginning', async () => {
    await expectAt('name', '◆const other = 1')
  })
})

describe('a key that is written twice', () => {
  const problemsOf = async (source: string) => {
    const result = await compileScript(source)
    if (!result.ok) throw new Error(JSON.stringify(result.error))
    return result.value.problems?.map(({ message, line, column }) => [line, column, message])
  }
  const twice = (key: string) => `"${key}" is written twice here; only the last one counts. Rename or remove one.`

  it('is a problem in the workflow, its topics, its handlers and inside each of them', async () => {
    const source = `const topics = { a: {}, "a": {} }
export default defineWorkflow({
  name: "x", name: "y", topics,
  producers: { p: { handler() {}, handler: 1 }, p: {} },
  consumers: { c: { next() {}, prepare() {}, next() {} }, d: {}, c: {} },
})`
    expect(await problemsOf(source)).toEqual([
      [3, 14, twice('name')],
      [1, 25, twice('a')],
      [4, 49, twice('p')],
      [5, 66, twice('c')],
    ])
  })

  it('is found in the handler that counts', async () => {
    expect(await problemsOf('export default { consumers: { c: { next() {}, next() {} } } }')).toEqual([
      [1, 47, twice('next')],
    ])
  })

  it('is none of our business elsewhere, nor when a spread is overridden on purpose', async () => {
    const source = `const base = { name: "x" }, other = { a: 1, a: 2 }
export default { ...base, name: "y", producers: { p: { data: { a: 1, a: 2 }, get x() { return 1 }, set x(v) {} } } }`
    expect(await problemsOf(source)).toEqual([])
  })

  it('is told once when two handlers are the same object', async () => {
    const source = 'const h = { next() {}, next() {} }\nexport default { consumers: { a: h, b: h } }'
    expect(await problemsOf(source)).toEqual([[1, 24, twice('next')]])
  })
})
