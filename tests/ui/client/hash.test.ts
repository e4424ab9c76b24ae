import { matchPath, parseHash } from '#ui/client/hash.ts'
import { describe, expect, it } from 'vitest'

describe('an address', () => {
  it('without a hash is the dashboard', () => {
    expect(parseHash('').path).toBe('/')
    expect(parseHash('#').path).toBe('/')
  })

  it('keeps its query apart from its path, also when the query has question marks of its own', () => {
    const { path, query } = parseHash('#/workflows/7/runs?text=what%3F&status=failed?')
    expect(path).toBe('/workflows/7/runs')
    expect(Object.fromEntries(query)).toEqual({ text: 'what?', status: 'failed?' })
  })

  it('gives the names of its pattern their values, decoded', () => {
    expect(matchPath('/workflows/:id/:tab?', '/workflows/a%20b/runs')).toEqual({ id: 'a b', tab: 'runs' })
    expect(matchPath('/workflows/:id/:tab?', '/workflows/a%20b')).toEqual({ id: 'a b' })
  })

  it('matches only a pattern of its own length and words', () => {
    expect(matchPath('/workflows/:id', '/workflows')).toBeNull()
    expect(matchPath('/workflows/:id', '/workflows/1/runs')).toBeNull()
    expect(matchPath('/workflows/:id', '/runs/1')).toBeNull()
    expect(matchPath('/', '/')).toEqual({})
  })

  it('that is badly encoded is taken as it is', () => {
    expect(matchPath('/runs/:id', '/runs/%E0%A4%A')).toEqual({ id: '%E0%A4%A' })
  })
})
