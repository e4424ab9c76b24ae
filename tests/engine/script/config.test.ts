import { describe, expect, it } from 'vitest'
import type { WorkflowConfig } from '#engine/model/workflow.ts'
import { createConfigCache, parseWorkflowConfig } from '#engine/script/config.ts'

const config: WorkflowConfig = {
  name: 'Inbox triage',
  permissions: ['demo'],
  topics: ['mail', 'row'],
  producers: {
    poll: { schedule: { interval: '5m' }, publishes: ['mail'] },
    daily: { schedule: { cron: '0 9 * * *', timezone: 'Europe/Berlin' }, publishes: [] },
    nightly: { schedule: { cron: '0 3 * * *' }, publishes: [] },
  },
  consumers: { work: { subscribe: ['mail'], publishes: ['row'], hasMutate: true, hasNext: false } },
}
const text = JSON.stringify(config)

describe('the stored configuration of a workflow', () => {
  it('is read back as it was written', () => {
    expect(parseWorkflowConfig(text)).toEqual(config)
    expect(JSON.stringify(parseWorkflowConfig(text))).toBe(text)
  })

  it('has the handlers that were written and no others', () => {
    const odd =
      '{"name":"x","permissions":[],"topics":[],"producers":{},"consumers":{"__proto__":{"subscribe":["t"],"publishes":[],"hasMutate":false,"hasNext":true}}}'
    const { producers, consumers } = parseWorkflowConfig(odd)
    expect(Object.keys(consumers)).toEqual(['__proto__'])
    expect(consumers['__proto__']).toMatchObject({ subscribe: ['t'] })
    expect('constructor' in producers).toBe(false)
    expect(JSON.stringify({ ...parseWorkflowConfig(odd) })).toBe(odd)
  })

  it('keeps a time zone that this browser does not know', () => {
    const schedule = { cron: '0 9 * * *', timezone: 'Mars/Olympus' }
    const stored = JSON.stringify({ ...config, producers: { p: { schedule, publishes: [] } } })
    expect(parseWorkflowConfig(stored).producers['p']?.schedule).toEqual(schedule)
  })

  it.each([
    ['no object', '[]'],
    ['no name', JSON.stringify({ ...config, name: undefined })],
    ['topics that are no list', JSON.stringify({ ...config, topics: {} })],
    ['a topic that is no string', JSON.stringify({ ...config, topics: [1] })],
    ['a producer without schedule', JSON.stringify({ ...config, producers: { p: { publishes: [] } } })],
    ['a consumer that is no object', JSON.stringify({ ...config, consumers: { c: 1 } })],
  ])('with %s is our own mistake and says so', (_, damaged) => {
    expect(() => parseWorkflowConfig(damaged)).toThrow('The stored configuration of a workflow cannot be read')
  })
})

describe('the configuration cache', () => {
  it('parses a version once, and every version and workflow for itself', () => {
    const cache = createConfigCache()
    const first = cache.get('wf_1', 1, text)
    expect(cache.get('wf_1', 1, 'not read again')).toBe(first)
    expect(cache.get('wf_1', 2, JSON.stringify({ ...config, name: 'two' })).name).toBe('two')
    expect(cache.get('wf_2', 1, JSON.stringify({ ...config, name: 'other' })).name).toBe('other')
    expect(cache.get('wf_1', 1, 'not read again')).toBe(first)
  })

  it('does not keep every version for ever', () => {
    const cache = createConfigCache()
    const first = cache.get('wf_1', 1, text)
    for (let version = 2; version < 1000; version += 1) cache.get('wf_1', version, text)
    expect(cache.get('wf_1', 1, text)).not.toBe(first)
  })
})
