import { describe, expect, it } from 'vitest'
import { sessionTemplates } from '#ui/features/gallery/session-templates.ts'
import { draftToRequest, readTask, requestToDraft } from '#ui/features/sessions/session-draft.ts'
import { sessionGraph } from '#ui/features/sessions/session-graph.ts'

describe('a session in the form', () => {
  it.each(sessionTemplates)('$id comes out of the form as it went in', ({ session }) => {
    expect(draftToRequest(requestToDraft(session))).toEqual({ onFailure: 'stop', ...session })
  })

  it('keeps dependencies while another strategy is tried, and does not send them', () => {
    const draft = requestToDraft(sessionTemplates[0]?.session ?? { objective: '', strategy: 'parallel', agents: [] })
    const tried = draftToRequest({ ...draft, strategy: 'parallel' })
    expect(tried.agents.some((agent) => agent.dependsOn !== undefined)).toBe(false)
    expect(draft.agents.some(({ dependsOn }) => dependsOn.length > 0)).toBe(true)
  })

  it('takes an object or a list as such, and anything else as a sentence', () => {
    expect(readTask(' {"a": 1} ')).toEqual({ a: 1 })
    expect(readTask('[1]')).toEqual([1])
    expect(readTask('{not json')).toBe('{not json')
    expect(readTask('7')).toBe('7')
  })
})

describe('the graph of a session', () => {
  const agent = (key: string, more = {}) => ({ key, dependencies: [], stage: null, ...more })
  const arrows = (...given: Parameters<typeof sessionGraph>) =>
    sessionGraph(...given).edges.map(({ from, to }) => `${from}→${to}`)

  it('draws what the strategy implies', () => {
    expect(arrows('sequential', [agent('a'), agent('b'), agent('c')])).toEqual(['a→b', 'b→c'])
    expect(arrows('parallel', [agent('a'), agent('b')])).toEqual([])
    const staged = [agent('a', { stage: 0 }), agent('b', { stage: 0 }), agent('c', { stage: 1 })]
    expect(arrows('pipeline', staged)).toEqual(['a→c', 'b→c'])
  })

  it('survives what is still wrong: an unknown dependency, and an agent that waits for itself', () => {
    expect(arrows('adaptive', [agent('a', { dependencies: ['a', 'gone'] })])).toEqual([])
  })

  it('shows what moves now', () => {
    const agents = [agent('a', { state: 'completed' }), agent('b', { state: 'running', dependencies: ['a'] })]
    expect(sessionGraph('adaptive', agents).edges).toEqual([{ from: 'a', to: 'b', isLive: true }])
  })
})
