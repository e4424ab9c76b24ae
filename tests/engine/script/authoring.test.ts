import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const AUTHORING = new URL('../../../src/engine/script/authoring.ts', import.meta.url).pathname

/** Scripts as a user would write them. Lines that the editor must show in red end with `// red`; no other line may be red. */
const scripts: Record<string, string> = {
  'the example of the specification': `
export default defineWorkflow({
  name: 'Inbox triage',
  permissions: ['demo', 'http:api.example.com'],
  topics: { 'email.received': {}, 'row.created': {} },
  producers: {
    pollEmail: {
      schedule: { interval: '5m' },
      publishes: ['email.received'],
      async handler(state, ctx) {
        const mails = await ctx.demo.inbox.list({ after: state?.cursor })
        for (const m of mails) await ctx.topics.publish('email.received', { messageId: m.id, title: m.subject, payload: m })
        return { cursor: mails.at(-1)?.id ?? state?.cursor }
      },
    },
  },
  consumers: {
    processEmail: {
      subscribe: ['email.received'],
      publishes: ['row.created'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('email.received', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return {
          reservations: [{ topic: 'email.received', ids: [event.messageId] }],
          data: { from: event.payload.from },
          ui: { title: \`Add row for \${event.payload.from}\` },
          wakeAt: undefined,
        }
      },
      async mutate(prepared, ctx) { await ctx.http.post('https://api.example.com', { json: prepared.data }) },
      async next(prepared, mutation, ctx) {
        if (mutation.status === 'applied') await ctx.topics.publish('row.created', { messageId: mutation.result.body.id })
      },
    },
  },
})`,

  'a producer': `
export default defineWorkflow({
  name: 'x',
  topics: { mail: {}, bill: {} },
  producers: {
    a: {
      schedule: { cron: '0 9 * * *', timezone: 'Europe/Berlin' },
      publishes: ['mail'],
      async handler(state, ctx) {
        ctx.log.info(ctx.now(), ctx.random(), await ctx.http.get('https://a.example'), await ctx.demo.sheet.rows())
        await ctx.topics.publish('mail', { messageId: '1', title: null, payload: [1, { a: true }] })
        await ctx.topics.publish('bill', { messageId: '1' }) // red
        await ctx.topics.publish('mail', { title: 'no id' }) // red
        await ctx.topics.publish('mail', { messageId: 1 }) // red
        await ctx.topics.peek('mail') // red
        await ctx.topics.getByIds('mail', ['1']) // red
        await ctx.http.post('https://a.example') // red
        await ctx.demo.chat.send({ text: 'hi' }) // red
        return state
      },
    },
    b: { schedule: { interval: '10s' }, publishes: ['bill'], handler(_, ctx) {
      void ctx.topics.publish('bill', { messageId: '1' })
      void ctx.topics.publish('mail', { messageId: '1' }) // red
    } },
    silent: { schedule: { interval: '1d' }, handler(_, ctx) {
      void ctx.topics.publish('mail', { messageId: '1' }) // red
    } },
    typed: { schedule: { interval: '1h' }, handler(state: { n: number } | null) {
      return { n: state.n + 1 } // red
    } },
  },
})`,

  'a producer that is not complete': `
export default defineWorkflow({ name: 'x', topics: { mail: {} }, producers: {
  a: { schedule: { interval: 'soon' }, handler() {} }, // red
  b: { schedule: { interval: '5m' }, publishes: ['mial'], handler() {} }, // red
  c: { schedule: { interval: '5m' } }, // red
  d: { handler() {} }, // red
} })`,

  prepare: `
export default defineWorkflow({ name: 'x', topics: { mail: {}, bill: {} }, consumers: {
  a: {
    subscribe: ['mail'],
    publishes: ['bill'],
    async prepare(state, ctx) {
      const events = await ctx.topics.getByIds('mail', ['1'])
      await ctx.topics.peek('bill') // red
      await ctx.topics.publish('bill', { messageId: '1' }) // red
      await ctx.http.delete('https://a.example') // red
      await ctx.demo.inbox.archive({ id: '1' }) // red
      const page = await ctx.http.get('https://a.example', { timeout: 1000 })
      return { reservations: [{ topic: 'mail', ids: events.map((event) => event.messageId) }], data: page.body, wakeAt: new Date(ctx.now()).toISOString() }
    },
  },
  both: { subscribe: ['mail', 'bill'], async prepare(state, ctx) {
    await ctx.topics.peek('bill')
    await ctx.topics.peek('mail')
    return { reservations: [] }
  } },
} })`,

  'prepare that returns something else': `
export default defineWorkflow({ name: 'x', topics: { mail: {}, bill: {} }, consumers: {
  a: { subscribe: ['mail'], async prepare() {} }, // red
  b: { subscribe: ['mail'], async prepare() { return { data: 1 } } }, // red
  c: { subscribe: ['mail'], prepare: () => ({ reservations: [{ topic: 'bill', ids: ['1'] }] }) }, // red
  d: { subscribe: ['mail'], prepare: () => ({ reservations: [{ topic: 'mail', ids: '1' }] }) }, // red
  e: { subscribe: ['mail'], prepare: () => ({ reservations: [], wakeAt: 5 }) }, // red
  f: { subscribe: ['mial'], prepare: () => ({ reservations: [] }) }, // red
  g: { subscribe: ['mail'] }, // red
} })`,

  mutate: `
export default defineWorkflow({ name: 'x', topics: { mail: {} }, consumers: {
  a: {
    subscribe: ['mail'],
    publishes: ['mail'],
    prepare: () => ({ reservations: [] }),
    async mutate(prepared, ctx) {
      ctx.log.info(ctx.now(), prepared.reservations.length)
      await ctx.http.get('https://a.example') // red
      await ctx.demo.inbox.list() // red
      await ctx.topics.peek('mail') // red
      await ctx.topics.publish('mail', { messageId: '1' }) // red
      const nothing: never = await ctx.demo.sheet.append({ values: { a: 1, b: [null] } })
    },
  },
} })`,

  next: `
export default defineWorkflow({ name: 'x', topics: { mail: {}, bill: {} }, consumers: {
  a: {
    subscribe: ['mail'],
    publishes: ['bill'],
    prepare: () => ({ reservations: [] }),
    async next(prepared, mutation, ctx) {
      await ctx.topics.publish('bill', { messageId: '1' })
      await ctx.topics.publish('mail', { messageId: '1' }) // red
      await ctx.topics.peek('mail') // red
      await ctx.http.get('https://a.example') // red
      await ctx.demo.chat.send({ text: 'hi' }) // red
      mutation.result // red
      if (mutation.status === 'applied') return mutation.result
      if (mutation.status === 'skipped' || mutation.status === 'none') return null
      const nothing: never = mutation
    },
  },
} })`,

  'topics that declare what they carry': `
interface Mail { id: string; from: string }
export default defineWorkflow({
  name: 'x',
  topics: { mail: {} as Topic<Mail>, any: {} },
  producers: { p: { schedule: { interval: '5m' }, publishes: ['mail', 'any'], async handler(_, ctx) {
    await ctx.topics.publish('mail', { messageId: '1', payload: { id: '1', from: 'ada' } })
    await ctx.topics.publish('mail', { messageId: '1', payload: { id: 1, from: 'ada' } }) // red
    await ctx.topics.publish('any', { messageId: '1', payload: { id: 1 } })
  } } },
  consumers: { c: { subscribe: ['mail', 'any'], async prepare(_, ctx) {
    const [mail] = await ctx.topics.peek('mail')
    const [other] = await ctx.topics.peek('any')
    const from: string | undefined = mail?.payload.from
    const wrong: number | undefined = mail?.payload.from // red
    mail?.payload.sender // red
    other?.payload.whatever.it.is
    return { reservations: [] }
  } } },
})`,

  'data that is known': `
export default defineWorkflow({ name: 'x', topics: { mail: {} }, consumers: {
  inferred: {
    subscribe: ['mail'],
    prepare: () => ({ reservations: [], data: { from: 'ada' } }),
    mutate(prepared) {
      const from: string = prepared.data.from
      const wrong: number = prepared.data.from // red
    },
    next(prepared) {
      prepared.data.sender // red
    },
  },
  annotated: {
    subscribe: ['mail'],
    async prepare(state, ctx) { return { reservations: [], data: { from: String(ctx.now()) } } },
    mutate(prepared: Prepared<{ from: string }>) {
      const wrong: number = prepared.data.from // red
    },
  },
} })`,

  'an agent': `
export default defineAgent({
  permissions: ['http:api.example.com'],
  async prepare(state, ctx) {
    const [event] = await ctx.topics.peek('task')
    await ctx.topics.peek('other') // red
    const notes: string[] = await ctx.session.context.get('notes')
    await ctx.session.context.set('notes', notes) // red
    await ctx.session.output(1) // red
    for (const message of await ctx.session.inbox()) ctx.log.info(message.from)
    return { reservations: [{ topic: 'task', ids: event ? [event.messageId] : [] }], data: { text: ctx.session.objective, n: notes.length } }
  },
  async mutate(prepared, ctx) {
    await ctx.session.inbox() // red
    await ctx.http.get('https://a.example') // red
    await ctx.http.post('https://a.example', { json: { text: prepared.data.text, role: ctx.session.agent.role } })
  },
  async next(prepared, mutation, ctx) {
    const n: number = prepared.data.n
    const wrong: string = prepared.data.n // red
    await ctx.session.context.get('notes') // red
    await ctx.topics.publish('task', { messageId: '1' }) // red
    await ctx.session.context.set('notes', [prepared.data.text])
    await ctx.session.send('reviewer', { n })
    await ctx.session.output(mutation.status === 'applied' ? mutation.result : ctx.session.handoff['writer'])
  },
})`,

  'a workflow that is not one': `
defineWorkflow({ topics: {} }) // red
defineWorkflow({ name: 'x', permissions: 'demo' }) // red
defineWorkflow({ name: 'x', topics: ['mail'], producer: {} }) // red
defineAgent({}) // red
defineWorkflow({ name: 'x' })`,
}

/** What the language service would underline, by the name of the script and the line. */
function redLines(): Map<string, number[]> {
  const head = "import { defineAgent, defineWorkflow, type Prepared, type Topic } from 'holdfast'; "
  const files = new Map(Object.entries(scripts).map(([name, text]) => [`/scripts/${name}.ts`, head + text]))
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    lib: ['lib.es2023.d.ts'],
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    paths: { holdfast: [AUTHORING] },
    allowUnusedLabels: true,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => files.has(name) || fileExists(name)
  host.getSourceFile = (name, version) => {
    const text = files.get(name)
    return text === undefined ? getSourceFile(name, version) : ts.createSourceFile(name, text, version)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  const diagnostics = ts.getPreEmitDiagnostics(program)
  const red = new Map(Object.keys(scripts).map((name) => [name, [] as number[]]))
  for (const { file, start, messageText } of diagnostics) {
    const name = /^\/scripts\/(.*)\.ts$/.exec(file?.fileName ?? '')?.[1]
    if (file === undefined || name === undefined) throw new Error(ts.flattenDiagnosticMessageText(messageText, ' '))
    red.get(name)?.push(ts.getLineAndCharacterOfPosition(file, start ?? 0).line)
  }
  return red
}

describe('while it is written,', () => {
  const red = redLines()

  it.each(Object.keys(scripts))('%s is red exactly where a phase or a shape is violated', (name) => {
    const lines = (scripts[name] ?? '').split('\n')
    const found = new Set(red.get(name))
    const shown = lines.filter((_, index) => found.has(index))
    const expected = lines.filter((line) => line.endsWith('// red'))
    expect(shown).toEqual(expected)
  })

  it('the types stand on their own: the editor gets this one file', () => {
    const text = readFileSync(AUTHORING, 'utf8')
    expect(ts.preProcessFile(text).importedFiles).toEqual([])
    expect(
      ts
        .transpileModule(text, { compilerOptions: { module: ts.ModuleKind.ESNext } })
        .outputText.replace(/export \{\};|\/\*[^]*?\*\/|\/\/.*/g, '')
        .trim(),
    ).toBe('')
  })
})
