import { describe, expect, it } from 'vitest'
import type { ScriptProblem } from '#engine/ports/sandbox.ts'
import { validateScript } from '#engine/script/validate.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

const sandbox = await createSandbox({ wasm: await loadQuickjsWasm(), compile: compileScript })

const PARTS = {
  before: '',
  name: `name: 'Inbox triage',`,
  permissions: `permissions: ['demo'],`,
  topics: `topics: { mail: {} },`,
  producers: `producers: { poll: { schedule: { interval: '5m' }, publishes: ['mail'], async handler() {} } },`,
  consumers: `consumers: { work: { subscribe: ['mail'], async prepare() {}, async mutate() {} } },`,
}
/** A good workflow with some of its parts replaced. A `◆` marks where the problem is. */
const script = (parts: Partial<typeof PARTS>): string => {
  const { before, ...rest } = { ...PARTS, ...parts }
  return `${before}\nexport default defineWorkflow({\n${Object.values(rest).join('\n')}\n})\n`
}
const producer = (text: string) => ({
  producers: `producers: { poll: { schedule: { interval: '5m' }, publishes: ['mail'], ${text} } },`,
})
const scheduled = (schedule: string) => ({
  producers: `producers: { ◆poll: { ${schedule} publishes: ['mail'], handler() {} } },`,
})
const consumer = (text: string) => ({ consumers: `consumers: { work: { ${text} } },` })

async function problemsOf(source: string): Promise<ScriptProblem[]> {
  const checked = await validateScript(sandbox, source)
  return checked.ok ? checked.value.warnings : checked.error
}

async function expectOnly(marked: string, severity: ScriptProblem['severity'], message: string): Promise<void> {
  const before = marked.slice(0, marked.indexOf('◆')).split('\n')
  const position = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
  const checked = await validateScript(sandbox, marked.replace('◆', ''))
  expect(checked.ok ? checked.value.warnings : checked.error).toEqual([{ severity, message, ...position }])
  expect(checked.ok).toBe(severity === 'warning')
}

describe('a good script', () => {
  it('gives its configuration and its code', async () => {
    const source = `import { defineWorkflow, type Topic } from 'holdfast'
interface Mail { from: string }
export default defineWorkflow({
  name: 'Inbox triage',
  permissions: ['demo', 'http:api.example.com'],
  topics: { 'email.received': {} as Topic<Mail>, 'row.created': {} },
  producers: {
    pollEmail: {
      schedule: { cron: '*/5 * * * *', timezone: 'Europe/Berlin' },
      publishes: ['email.received'],
      async handler(state: { cursor?: string } | null, ctx) { return state },
    },
  },
  consumers: {
    processEmail: { subscribe: ['email.received'], publishes: ['row.created'], async prepare() {}, async mutate() {}, async next() {} },
    readRows: { subscribe: ['row.created'], async prepare() {} },
  },
})`
    const checked = await validateScript(sandbox, source)
    expect(checked).toEqual({
      ok: true,
      value: {
        warnings: [],
        code: expect.stringContaining('exports.default=') as string,
        config: {
          name: 'Inbox triage',
          permissions: ['demo', 'http:api.example.com'],
          topics: ['email.received', 'row.created'],
          producers: {
            pollEmail: { schedule: { cron: '*/5 * * * *', timezone: 'Europe/Berlin' }, publishes: ['email.received'] },
          },
          consumers: {
            processEmail: { subscribe: ['email.received'], publishes: ['row.created'], hasMutate: true, hasNext: true },
            readRows: { subscribe: ['row.created'], publishes: [], hasMutate: false, hasNext: false },
          },
        },
      },
    })
  })

  it.each([
    ['the bare binding called workflow', script({}).replace('export default', 'const workflow =')],
    ['a workflow without producers', script({ producers: '' })],
    ['a workflow without permissions', script({ permissions: '' })],
    ['an agent', 'export default defineAgent({ prepare() {}, mutate() {}, next() {}, permissions: ["demo"] })'],
    ['a workflow made of constants', script({ before: `const topics = { mail: {} }`, topics: 'topics,' })],
    [
      'handlers with the names of what every object has',
      script({
        producers: producer('handler() {}').producers.replace('poll:', 'toString:'),
        consumers: PARTS.consumers.replace('work:', 'constructor:'),
      }),
    ],
    ['a name of a hundred characters', script({ name: `name: '${'x'.repeat(100)}',` })],
  ])('may be %s', async (_, source) => {
    expect(await problemsOf(source)).toEqual([])
  })

  it('keeps handlers called constructor and __proto__ apart from what every object has', async () => {
    const checked = await validateScript(
      sandbox,
      script({
        consumers: `consumers: { constructor: { subscribe: ['mail'], prepare() {} }, ['__proto__']: { subscribe: ['mail'], prepare() {}, next() {} } },`,
      }),
    )
    if (!checked.ok) throw new Error(JSON.stringify(checked.error))
    const { producers, consumers } = checked.value.config
    expect(Object.keys(consumers)).toEqual(['constructor', '__proto__'])
    expect(consumers.constructor).toMatchObject({ hasNext: false })
    expect(consumers['__proto__']).toMatchObject({ hasNext: true })
    expect('constructor' in producers || 'toString' in producers).toBe(false)
  })
})

const EXAMPLE =
  'Write: export default defineWorkflow({ name: "…", topics: { … }, producers: { … }, consumers: { … } }).'

describe('a script without a workflow is refused:', () => {
  it.each([
    ['nothing in it', '◆', `The script has no workflow. ${EXAMPLE}`],
    ['no default export and no binding called workflow', '◆const flow = {}', `The script has no workflow. ${EXAMPLE}`],
    ['null', 'export default ◆null', `The script has no workflow. ${EXAMPLE}`],
    ['an array', 'export default ◆[]', `The script has a workflow that is an array, not an object. ${EXAMPLE}`],
    [
      'a function',
      'export default ◆() => ({})',
      `The script has a workflow that is a function, not an object. ${EXAMPLE}`,
    ],
    ['a text', 'const workflow = ◆"x"', `The script has a workflow that is a string, not an object. ${EXAMPLE}`],
    [
      'a symbol',
      'export default ◆Symbol("x")',
      `The script has a workflow that is a symbol, not an object. ${EXAMPLE}`,
    ],
  ])('%s', async (_, marked, message) => {
    await expectOnly(marked, 'error', message)
  })

  it('neither producer nor consumer', async () => {
    const message = 'The workflow has neither a producer nor a consumer: it would never do anything. Add one of them.'
    await expectOnly('export default ◆{ name: "x" }', 'error', message)
    await expectOnly('export default ◆{ name: "x", producers: {}, consumers: null }', 'error', message)
  })
})

describe('the name of a workflow is refused when', () => {
  const ALLOWED = 'Use letters (A-Z), digits, "_", ".", "-" and spaces between words only.'
  it.each([
    ['it is missing', '', 'The workflow has no name. Add one: name: "Inbox triage".'],
    ['it is no string', '◆name: 5,', 'The workflow has a name that is a number. It must be a string.'],
    ['it is empty', `◆name: '',`, 'The name of a workflow is empty.'],
    [
      'it is too long',
      `◆name: '${'x'.repeat(101)}',`,
      `The workflow name "${'x'.repeat(30)}…" is 101 characters long; at most 100 are allowed.`,
    ],
    ['it has other characters', `◆name: 'a/b',`, `The workflow name "a/b" contains "/" where it must not. ${ALLOWED}`],
    ['it has an emoji', `◆name: 'a🎈',`, `The workflow name "a🎈" contains "🎈" where it must not. ${ALLOWED}`],
    ['it begins with a space', `◆name: ' a',`, `The workflow name " a" contains " " where it must not. ${ALLOWED}`],
  ])('%s', async (_, name, message) => {
    const source = script({ name })
    await expectOnly(name === '' ? source.replace('defineWorkflow', '◆defineWorkflow') : source, 'error', message)
  })
})

describe('permissions are refused when', () => {
  it.each([
    [
      'they are no array',
      `◆permissions: 'demo',`,
      'The permissions are a string. They must be an array of strings, such as ["http:api.example.com"].',
    ],
    [
      'one is no string',
      `permissions: ['demo', ◆5],`,
      'A permission is a number. It must be a string such as "http:api.example.com".',
    ],
    [
      'one is empty',
      `permissions: [◆''],`,
      'A permission is an empty string. It must be a string such as "http:api.example.com".',
    ],
  ])('%s', async (_, permissions, message) => {
    await expectOnly(script({ permissions }), 'error', message)
  })

  it('and one that is asked for twice is a warning', async () => {
    await expectOnly(
      script({ permissions: `permissions: ['demo', ◆'demo'],` }),
      'warning',
      'The permission "demo" is asked for twice.',
    )
  })
})

describe('topics are refused when', () => {
  const ALLOWED = 'Use letters (A-Z), digits, "_", "." and "-" only.'
  it.each([
    ['one has no name', `topics: { mail: {}, ◆'': {} },`, 'The name of a topic is empty.'],
    [
      'one has a space in its name',
      `topics: { mail: {}, ◆'a b': {} },`,
      `The topic name "a b" contains " " where it must not. ${ALLOWED}`,
    ],
    [
      'one has a long name',
      `topics: { mail: {}, ◆${'x'.repeat(65)}: {} },`,
      `The topic name "${'x'.repeat(30)}…" is 65 characters long; at most 64 are allowed.`,
    ],
    [
      'one is no object',
      `topics: { mail: {}, ◆other: 1 },`,
      'The topic "other" is a number. It must be an object: {}.',
    ],
    [
      'one is a function',
      `topics: { mail: {}, ◆other() {} },`,
      'The topic "other" is a function. It must be an object: {}.',
    ],
  ])('%s', async (_, topics, message) => {
    const position = (await problemsOf(script({ topics }).replace('◆', ''))).filter(
      ({ severity }) => severity === 'error',
    )
    expect(position.map((problem) => problem.message)).toEqual([message])
    const before = script({ topics }).split('◆')[0]?.split('\n') ?? []
    expect(position[0]).toMatchObject({ line: before.length, column: (before.at(-1)?.length ?? 0) + 1 })
  })

  it('they are a list', async () => {
    const problems = await problemsOf(script({ topics: `topics: ['mail'],` }))
    expect(problems[0]?.message).toBe(
      'The topics are an array. They must be an object with one entry for each topic, such as { "email.received": {} }.',
    )
  })

  it.each([
    ['publishes', producer('handler() {}'), `publishes: ['mail']`, `publishes: ['mail', ◆'bill']`],
    ['subscribe', consumer(`subscribe: ['mail'], prepare() {}`), `subscribe: ['mail']`, `subscribe: ['mail', ◆'bill']`],
  ])('one is named in %s and not declared', async (key, parts, text, marked) => {
    const owner = key === 'publishes' ? 'The producer "poll"' : 'The consumer "work"'
    await expectOnly(
      script(parts).replace(text, marked),
      'error',
      `${owner} names the topic "bill" in ${key}, which is not declared. Add it to topics, which has "mail".`,
    )
  })

  it('one is misspelt, and the right one is suggested', async () => {
    await expectOnly(
      script(consumer(`subscribe: ['mail', ◆'mails'], prepare() {}`)),
      'error',
      'The consumer "work" names the topic "mails" in subscribe, which is not declared. Did you mean "mail"? Otherwise add it to topics.',
    )
  })

  it('and one that is published but never subscribed to is a warning', async () => {
    await expectOnly(
      script({
        topics: 'topics: { mail: {}, ◆done: {} },',
        ...consumer(`subscribe: ['mail'], publishes: ['done'], prepare() {}, next() {}`),
      }),
      'warning',
      'The topic "done" is published but no consumer subscribes to it: its events stay pending.',
    )
  })

  it('and one that is declared but not used is a warning', async () => {
    await expectOnly(
      script({ topics: 'topics: { mail: {}, ◆done: {} },' }),
      'warning',
      'The topic "done" is declared but not used.',
    )
  })

  it('and one that nobody here publishes is not even a warning: it may be published by hand', async () => {
    expect(await problemsOf(script({ producers: '' }))).toEqual([])
  })
})

describe('a producer is refused when', () => {
  it.each([
    ['it is no object', `producers: { ◆poll: 5 },`, 'The producer "poll" is a number. It must be an object.'],
    ['it is a function', `producers: { ◆poll() {} },`, 'The producer "poll" is a function. It must be an object.'],
    [
      'it has no handler',
      `producers: { ◆poll: { schedule: { interval: '5m' } } },`,
      'The producer "poll" has no handler. Add the function: async handler(state, ctx) { … }.',
    ],
    [
      'its handler is no function',
      `producers: { poll: { schedule: { interval: '5m' }, ◆handler: 'go' } },`,
      'The producer "poll" has a handler that is a string. It must be a function.',
    ],
    [
      'it has no schedule',
      `producers: { ◆poll: { handler() {} } },`,
      'The producer "poll" has no schedule. Add one: schedule: { interval: "5m" } or schedule: { cron: "0 9 * * *" }.',
    ],
    [
      'its schedule is a text',
      `producers: { poll: { ◆schedule: '5m', handler() {} } },`,
      'The producer "poll" has no valid schedule. A schedule is an object: { interval: "5m" } or { cron: "*/5 * * * *" }.',
    ],
    [
      'its schedule is a function',
      `producers: { poll: { ◆schedule() {}, handler() {} } },`,
      'The producer "poll" has no valid schedule. A schedule is an object: { interval: "5m" } or { cron: "*/5 * * * *" }.',
    ],
    [
      'its interval is too short',
      `producers: { poll: { ◆schedule: { interval: '5s' }, handler() {} } },`,
      'The producer "poll" has no valid schedule. The interval "5s" is too short: the shortest is "10s".',
    ],
    [
      'its interval is a number',
      `producers: { poll: { ◆schedule: { interval: 5 }, handler() {} } },`,
      'The producer "poll" has no valid schedule. A value of type number is not an interval. Write a whole number and a unit (s, m, h or d), such as "30s", "5m", "1h" or "7d".',
    ],
    [
      'its cron expression cannot be read',
      `producers: { poll: { ◆schedule: { cron: '61 * * * *' }, handler() {} } },`,
      'The producer "poll" has no valid schedule. The minute "61" in the cron expression "61 * * * *" cannot be read: it takes 0-59, "*", lists (1,3), ranges (1-5) and steps (*/5).',
    ],
    [
      'its cron expression never fires',
      `producers: { poll: { ◆schedule: { cron: '0 0 31 2 *' }, handler() {} } },`,
      'The producer "poll" has no valid schedule. The cron expression "0 0 31 2 *" never fires: no date ever matches it.',
    ],
    [
      'its time zone does not exist',
      `producers: { poll: { ◆schedule: { cron: '0 0 * * *', timezone: 'Mars' }, handler() {} } },`,
      'The producer "poll" has no valid schedule. "Mars" is not a time zone. Write an IANA name such as "Europe/Berlin" or "UTC".',
    ],
    [
      'its publishes is no array',
      `producers: { poll: { schedule: { interval: '5m' }, ◆publishes: 'mail', handler() {} } },`,
      'The producer "poll" has a publishes that is a string. It must be an array of topic names.',
    ],
    [
      'its publishes contains no name',
      `producers: { poll: { schedule: { interval: '5m' }, publishes: [◆{}], handler() {} } },`,
      'The producer "poll" names an object in publishes. It must be the name of a topic.',
    ],
    [
      'its name has a slash in it',
      `producers: { ◆'a/b': { schedule: { interval: '5m' }, handler() {} } },`,
      'The producer name "a/b" contains "/" where it must not. Use letters (A-Z), digits, "_", "." and "-" only.',
    ],
    [
      'its name is empty',
      `producers: { ◆'': { schedule: { interval: '5m' }, handler() {} } },`,
      'The name of a producer is empty.',
    ],
    [
      'it is written twice',
      `producers: { poll: {}, ◆poll: { schedule: { interval: '5m' }, handler() {} } },`,
      '"poll" is written twice here; only the last one counts. Rename or remove one.',
    ],
    [
      'the producers are a list',
      `◆producers: [],`,
      'The producers are an array. They must be an object with one entry for each producer.',
    ],
  ])('%s', async (_, producers, message) => {
    await expectOnly(script({ producers }), 'error', message)
  })

  it('and a time zone beside an interval is a warning', async () => {
    await expectOnly(
      script(scheduled(`schedule: { interval: '5m', ◆timezone: 'UTC' },`)).replace('◆poll', 'poll'),
      'warning',
      'The time zone of the producer "poll" has no effect: an interval is the same everywhere.',
    )
  })

  it('and a topic named twice is a warning', async () => {
    await expectOnly(
      script({
        producers: `producers: { poll: { schedule: { interval: '5m' }, publishes: ['mail', ◆'mail'], handler() {} } },`,
      }),
      'warning',
      'The producer "poll" names the topic "mail" twice in publishes.',
    )
  })
})

describe('a consumer is refused when', () => {
  const consumers = (text: string) => `consumers: { keep: { subscribe: ['mail'], prepare() {} }, ${text} },`
  it.each([
    ['it is no object', '◆work: null', 'The consumer "work" is null. It must be an object.'],
    [
      'it has no prepare',
      `◆work: { subscribe: ['mail'] }`,
      'The consumer "work" has no prepare. Add the function: async prepare(state, ctx) { … }.',
    ],
    [
      'its prepare is no function',
      `work: { subscribe: ['mail'], ◆prepare: {} }`,
      'The consumer "work" has a prepare that is an object. It must be a function.',
    ],
    [
      'it subscribes to nothing',
      `work: { ◆subscribe: [], prepare() {} }`,
      'The consumer "work" subscribes to no topic. Name at least one in subscribe.',
    ],
    [
      'it has no subscribe',
      `◆work: { prepare() {} }`,
      'The consumer "work" subscribes to no topic. Name at least one in subscribe.',
    ],
    [
      'its subscribe is a text',
      `work: { ◆subscribe: 'mail', prepare() {} }`,
      'The consumer "work" has a subscribe that is a string. It must be an array of topic names.',
    ],
    [
      'its mutate is no function',
      `work: { subscribe: ['mail'], prepare() {}, ◆mutate: true }`,
      'The consumer "work" has a mutate that is a boolean. It must be a function.',
    ],
    [
      'its next is no function',
      `work: { subscribe: ['mail'], prepare() {}, ◆next: null }`,
      'The consumer "work" has a next that is null. It must be a function.',
    ],
    [
      'a producer has the same name',
      `◆poll: { subscribe: ['mail'], prepare() {} }`,
      '"poll" is the name of both a producer and a consumer. Rename one: each keeps its state under its name.',
    ],
    [
      'its name is too long',
      `◆${'x'.repeat(65)}: { subscribe: ['mail'], prepare() {} }`,
      `The consumer name "${'x'.repeat(30)}…" is 65 characters long; at most 64 are allowed.`,
    ],
  ])('%s', async (_, text, message) => {
    await expectOnly(script({ consumers: consumers(text) }), 'error', message)
  })

  it('and topics to publish without a next that could publish them are a warning', async () => {
    await expectOnly(
      script({ consumers: consumers(`work: { subscribe: ['mail'], ◆publishes: ['mail'], prepare() {} }`) }),
      'warning',
      'The consumer "work" declares topics in publishes but has no next, the only phase of a consumer that may publish.',
    )
  })
})

describe('a key that nobody reads is a warning', () => {
  it.each([
    [
      'of the workflow',
      { permissions: `◆permission: ['demo'],` },
      'The workflow has the unknown key "permission". Did you mean "permissions"?',
    ],
    [
      'of the workflow that resembles none',
      { permissions: `◆version: 2,` },
      'The workflow has the unknown key "version". It has name, permissions, topics, producers, consumers; anything else is ignored.',
    ],
    [
      'of a producer',
      producer('◆Publish: [], handler() {}'),
      'The producer "poll" has the unknown key "Publish". It has schedule, publishes, handler; anything else is ignored.',
    ],
    [
      'of a consumer',
      consumer(`subscribe: ['mail'], prepare() {}, ◆mutat() {}`),
      'The consumer "work" has the unknown key "mutat". Did you mean "mutate"?',
    ],
    [
      'of a schedule',
      {
        producers: `producers: { poll: { schedule: { cron: '0 9 * * *', ◆timeZone: 'UTC' }, publishes: ['mail'], handler() {} } },`,
      },
      'The schedule of the producer "poll" has the unknown key "timeZone". Did you mean "timezone"?',
    ],
  ])('%s', async (_, parts, message) => {
    await expectOnly(script(parts), 'warning', message)
  })
})

describe('a script that cannot be loaded', () => {
  it('has one problem, at the line that threw', async () => {
    await expectOnly(
      script({
        before: 'const a: string = "1"\nconst b: number = ◆fail()\nfunction fail(): never { return undefinedThing }',
      })
        .replace('◆', '')
        .replace('undefinedThing', '◆undefinedThing'),
      'error',
      "The script fails while it is loaded. ReferenceError: 'undefinedThing' is not defined",
    )
  })

  it('has one problem when it never ends', async () => {
    const [problem, ...others] = await problemsOf('const a = 1\nfor (;;) {}\nexport default {}')
    expect(others).toEqual([])
    expect(problem?.message).toContain('The script fails while it is loaded. The script took too long')
  }, 30_000)

  it('has one problem when its text is wrong', async () => {
    await expectOnly('export default {\n  name: ◆}', 'error', 'Syntax error: unexpected "}".')
  })

  it('has one problem when a getter of its workflow throws', async () => {
    const [problem, ...others] = await problemsOf(
      'export default {\n  get name() { throw new Error("no name today") } }',
    )
    expect(others).toEqual([])
    expect(problem).toMatchObject({ severity: 'error', line: 2 })
    expect(problem?.message).toContain('no name today')
  })

  it.each([
    ['contains itself', 'const workflow = { name: "x", producers: {} }\nworkflow.producers.p = workflow'],
    ['is a proxy', 'export default new Proxy({}, { ownKeys() { throw null } })'],
    [
      'is huge',
      'export default { name: "x", topics: Object.fromEntries(Array.from({ length: 50000 }, (_, i) => ["t" + i, {}])) }',
    ],
    [
      'has symbols, big numbers and dates in it',
      'export default { name: 5n, topics: new Date(0), producers: Symbol.iterator, consumers: NaN }',
    ],
  ])('or %s is told so, and nothing breaks', async (_, source) => {
    expect((await problemsOf(source)).some(({ severity }) => severity === 'error')).toBe(true)
  })
})

describe('all problems of a script', () => {
  it('are told at once, in the order of its lines', async () => {
    const source = `export default defineWorkflow({
  name: '',
  permission: [],
  topics: { mail: {}, 'b ill': {} },
  producers: {
    poll: { schedule: { interval: '1s' }, publishes: ['male'] },
  },
  consumers: {
    work: { subscribe: [], mutate: 1 },
  },
})`
    const problems = await problemsOf(source)
    expect(problems.map(({ severity, line, column }) => `${severity} ${line}:${column}`)).toEqual([
      'error 2:3',
      'warning 3:3',
      'warning 4:13',
      'error 4:23',
      'warning 4:23',
      'error 6:5',
      'error 6:13',
      'error 6:55',
      'error 9:5',
      'error 9:13',
      'error 9:28',
    ])
  })
})
