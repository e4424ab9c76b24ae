import { describe, expect, it } from 'vitest'
import { createTools } from '#worker/tools/registry.ts'
import { createMemoryKeyValue } from '#worker/tools/key-value.ts'
import { createHandClock } from '../../support/hand-clock.ts'

const tools = createTools({ demo: { clock: createHandClock(), storage: createMemoryKeyValue(), seed: 'seed' } })

describe('the registry', () => {
  it('finds every method that it lists, and nothing else', () => {
    for (const method of tools.list()) expect(tools.find(method.namespace, method.method)).toBe(method)
    expect(tools.find('demo', 'nothing')).toBeUndefined()
    expect(tools.find('constructor', 'call')).toBeUndefined()
  })

  it('tells about every method what people need to know', () => {
    for (const tool of tools.list()) {
      const { namespace, method, title, doc, kind } = tool
      const name = `${namespace}.${method}`
      expect(title, name).toMatch(/^[A-Z].+[^.]$/)
      expect(doc.text, name).toMatch(/\.$/)
      expect(doc.signature, name).toMatch(/^\(.*\) => Promise<.+>$/)
      expect(doc.example, name).toContain(`ctx.${name}(`)
      expect('whereToCheck' in tool, `${name} says where to check`).toBe(kind === 'mutation')
    }
  })
})
