import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

/** The interfaces that make up EngineApi: a method is a line that begins with its name, two spaces in. */
const sources = ['api.ts', 'views-api.ts', 'preferences-api.ts', 'retention-api.ts']

const methodsIn = (source: string): string[] =>
  [...source.matchAll(/^export interface \w+Api\b[^{]*\{\n(.*?)^\}/gms)].flatMap(([, body = '']) =>
    [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, name = '']) => name),
  )

test('every method of the API is documented in docs/api.md', async () => {
  const texts = await Promise.all(sources.map((file) => readFile(`src/worker/${file}`, 'utf8')))
  const methods = texts.flatMap(methodsIn)
  expect(methods).toContain('deployWorkflow')
  expect(methods.length).toBeGreaterThan(80)
  const documented = await readFile('docs/api.md', 'utf8')
  expect(methods.filter((name) => !new RegExp(String.raw`\b${name}\b`).test(documented))).toEqual([])
})
