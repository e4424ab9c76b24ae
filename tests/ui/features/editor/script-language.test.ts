import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { createScriptLanguage, type ScriptLanguage } from '#ui/features/editor/language/script-language.ts'
import { sessionTemplates } from '#ui/features/gallery/session-templates.ts'
import { workflowTemplates } from '#ui/features/gallery/workflow-templates.ts'

const folder = dirname(createRequire(import.meta.url).resolve('typescript'))
const libraries = new Map(
  readdirSync(folder)
    .filter((name) => /^lib\.(?:es5|es20\d\d|decorators)[\w.]*\.d\.ts$/.test(name))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
)
const authoring = readFileSync(new URL('../../../../src/engine/script/authoring.ts', import.meta.url), 'utf8')
const language = createScriptLanguage(ts, { authoring, libraries })

/** The caret is where the text has a |. */
const at = (marked: string): { language: ScriptLanguage; position: number } => {
  const position = marked.indexOf('|')
  language.setText(marked.replace('|', ''))
  return { language, position }
}
const labels = (marked: string): string[] => {
  const { position } = at(marked)
  return language.complete(position)?.entries.map(({ label }) => label) ?? []
}
const messages = (text: string): string[] => {
  language.setText(text)
  return language.problems().map(({ message }) => message)
}

const consumer = (mutate: string) => `export default defineWorkflow({
  name: 'x', topics: { mail: {}, bill: {} },
  consumers: { c: { subscribe: ['mail'], publishes: ['bill'],
    async prepare(state, ctx) { return { reservations: [] } },
    ${mutate}
  } },
})`

// The first question makes it read all libraries.
describe('the language service of the editor', { timeout: 60_000 }, () => {
  it.each([...workflowTemplates])('finds nothing to complain about in the template $id', ({ source }) => {
    expect(messages(source)).toEqual([])
  })

  it.each([...new Set(sessionTemplates.flatMap(({ session }) => session.agents.map(({ source }) => source)))])(
    'finds nothing to complain about in an agent of a template',
    (source) => {
      expect(messages(source)).toEqual([])
    },
  )

  it('knows what a script has around it, and nothing of a page', () => {
    expect(
      messages(`console.log(new URL('https://a.example').searchParams.get('q'), structuredClone(1), btoa('a'))`),
    ).toEqual([])
    expect(messages('document.title')).toHaveLength(1)
    expect(messages('setTimeout(() => {}, 1)')).toHaveLength(1)
  })

  it('says of a text that it cannot read only where it cannot be read', () => {
    expect(messages('export default defineWorkflow({ name: 1, topics: { a: } })')).toEqual(['Expression expected.'])
  })

  it('takes JavaScript as it is', () => {
    expect(messages('const add = (a, b) => a + b\nexport default add')).toEqual([])
  })

  it('underlines what a phase may not do', () => {
    const text = consumer(`async mutate(prepared, ctx) { await ctx.topics.publish('bill', { messageId: '1' }) },`)
    language.setText(text)
    const [problem] = language.problems()
    expect(problem).toMatchObject({
      severity: 'error',
      message: expect.stringContaining("'topics' does not exist") as string,
    })
    expect(text.slice(problem?.from, problem?.to)).toBe('topics')
  })

  it.each([
    ['mutate', `async mutate(prepared, ctx) { ctx.topics },`, 'publish in next'],
    ['mutate that reads', `async mutate(prepared, ctx) { ctx.demo.inbox.list() },`, 'Read in prepare'],
    ['mutate that fetches', `async mutate(prepared, ctx) { ctx.http.get('https://a.example') },`, 'Read in prepare'],
    ['next', `async next(prepared, mutation, ctx) { ctx.http.get('https://a.example') },`, 'read in prepare'],
    ['next that peeks', `async next(prepared, mutation, ctx) { ctx.topics.peek('mail') },`, 'Read them in prepare'],
  ])('says what to do instead: %s', (_, part, advice) => {
    expect(messages(consumer(part))).toEqual([expect.stringContaining(advice)])
  })

  it.each([
    [`ctx.topics.publish('bill', { messageId: '1' })`, 'Publish in next'],
    [`ctx.demo.chat.send({ text: 'x' })`, 'Change things in mutate'],
    [`ctx.http.post('https://a.example')`, 'Change things in mutate'],
  ])('says what to do instead in prepare of %s', (call, advice) => {
    expect(messages(consumer('').replace('{ return', `{ ${call}; return`))).toEqual([expect.stringContaining(advice)])
  })

  it('offers in mutate the tools that change something, and in prepare those that read', () => {
    expect(labels(consumer('async mutate(prepared, ctx) { ctx.demo.inbox.| },'))).toEqual(['archive', 'reply'])
    const reading = consumer('').replace('{ return', '{ ctx.demo.inbox.|; return')
    expect(labels(reading)).toEqual(['get', 'list'])
  })

  it('offers the topics a handler may publish to, inside the quotes', () => {
    const marked = consumer(
      `async next(prepared, mutation, ctx) { await ctx.topics.publish('|', { messageId: '1' }) },`,
    )
    expect(labels(marked)).toEqual(['bill'])
    const { position } = at(marked)
    expect(language.complete(position)?.from).toBe(position)
  })

  it('replaces the word under the caret', () => {
    const marked = consumer('async mutate(prepared, ctx) { await ctx.demo.sheet.app| },')
    const { position } = at(marked)
    expect(language.complete(position)?.from).toBe(position - 'app'.length)
    expect(language.describeEntry(position, 'append')?.signature).toContain('append(row:')
  })

  it('explains what is under the pointer', () => {
    const marked = consumer('').replace('{ return', `{ await ctx.topics.pe|ek('mail'); return`)
    const { position } = at(marked)
    expect(language.explain(position)).toMatchObject({
      signature: expect.stringContaining('peek<"mail">') as string,
      documentation: expect.stringContaining('oldest first') as string,
    })
  })
})
