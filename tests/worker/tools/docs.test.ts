import { readFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTools, type ToolRegistry } from '#worker/tools/registry.ts'
import { startFakeGithub, type FakeGithub } from '../../support/fake-github.ts'
import { startMisbehavingServer, type MisbehavingServer } from '../../support/misbehaving-server.ts'
import { renderToolDocs } from '../../support/render-tool-docs.ts'
import { createScriptContext } from '../../support/script-context.ts'
import { createToolKit } from '../../support/tool-kit.ts'

const DOCS = new URL('../../../docs/tools.md', import.meta.url).pathname
const AUTHORING = new URL('../../../src/engine/script/authoring.ts', import.meta.url).pathname

/** Each example with the method it stands under. */
const examples = [...readFileSync(DOCS, 'utf8').matchAll(/### `([\w.]+)`[\s\S]*?```js\n([\s\S]*?)```/g)].map(
  ([, name = '', code = '']) => ({ name, code }),
)

const GRANTED = [
  'http:api.example.com',
  'http:news.example.com',
  'notify',
  'clipboard',
  'files:reports',
  'llm',
  'github',
  'demo',
]

let server: MisbehavingServer
let github: FakeGithub
beforeAll(async () => {
  server = await startMisbehavingServer()
  github = await startFakeGithub()
  const json = (value: unknown) => (response: Parameters<Parameters<MisbehavingServer['on']>[1]>[0]) =>
    response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' }).end(JSON.stringify(value))
  server.on('/items', json([{ id: 1 }]))
  server.on('/items/1', json({ id: 1 }))
  server.on('/feed.xml', (response) =>
    response.writeHead(200).end('<rss><channel><title>News</title><item><title>One</title></item></channel></rss>'),
  )
  server.on('/v1/chat/completions', (response, request) => {
    const content = request.body.includes('json_schema') ? '{"urgent":false}' : 'Ada orders again.'
    json({ choices: [{ message: { content } }] })(response)
  })
})
afterAll(async () => {
  await server.close()
  await github.close()
})

async function setUp(): Promise<ToolRegistry> {
  const kit = createToolKit({ llmUrl: `${server.url}/v1`, githubUrl: github.url })
  github.reset()
  kit.directory.put('january.csv', 'name,amount\nAda,12\n')
  await kit.vault.put({ name: 'EXAMPLE_TOKEN', value: 'example-token', hosts: ['api.example.com'] })
  await kit.vault.put({ name: 'GITHUB_TOKEN', value: 'github-token', hosts: [github.host] })
  /** Every host of the examples is this machine. */
  const fetchHere: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    if (!new URL(request.url).hostname.endsWith('.example.com')) return fetch(request)
    const body = await request.text()
    const { method, headers } = request
    return fetch(server.url + pathname + search, { method, headers, ...(body !== '' && { body }) })
  }
  return createTools({ ...kit, fetch: fetchHere })
}

describe('docs/tools.md', () => {
  it('says what the tools say (update it with vitest -u)', async () => {
    const markdown = renderToolDocs((await setUp()).list())
    const formatted = await format(markdown, { ...(await resolveConfig(DOCS)), filepath: DOCS })
    await expect(formatted).toMatchFileSnapshot(DOCS)
  }, 60_000)

  it('has an example for every method', async () => {
    const names = (await setUp()).list().map(({ namespace, method }) => `${namespace}.${method}`)
    expect(examples.map(({ name }) => name)).toEqual(names)
  })
})

describe('the documented example', () => {
  it.each(examples)('of $name runs', async ({ name, code }) => {
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the text of our own documentation is the program
    const run = new Function('ctx', `return (async () => {${code}})()`) as (ctx: unknown) => Promise<unknown>
    const result = await run(createScriptContext(await setUp(), GRANTED))
    if (code.includes('return')) expect(result, name).toBeDefined()
  })

  it('of every method is correctly typed for whoever writes it in the editor', () => {
    const source = [
      `import type { ToolMutations, ToolReads } from ${JSON.stringify(AUTHORING)}`,
      ...examples.map(({ code }, n) => `export async function example${n}(ctx: ToolReads & ToolMutations) {\n${code}}`),
    ].join('\n')
    expect(problemsIn(source)).toEqual([])
  }, 60_000)
})

function problemsIn(source: string): string[] {
  const file = '/examples.ts'
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    lib: ['lib.es2023.d.ts'],
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const getSourceFile = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(file, source, ts.ScriptTarget.ES2023) : getSourceFile(name, ...rest)
  const program = ts.createProgram([file], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ messageText, start = 0 }) =>
        `${ts.flattenDiagnosticMessageText(messageText, ' ')} at ${source.slice(start, start + 40)}`,
    )
}
