import { beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '#engine/runtime/engine.ts'
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript } from '../../support/scripts.ts'

let world: TestEngine
let id: string

beforeEach(async () => {
  world = await openTestEngine()
  id = await world.deploy(consumerScript())
  await world.settle()
})

/** The engine as a script on the page sees it: without types. */
const untyped = (): Record<keyof Engine, (...args: unknown[]) => unknown> => world.engine as never

const expectRefused = async (code: string, sentence: string, call: () => unknown): Promise<void> => {
  const before = world.dump()
  const answer = await call()
  expect(answer).toMatchObject({ ok: false, error: { code } })
  expect((answer as { error: { message: string } }).error.message).toContain(sentence)
  expect(world.dump()).toBe(before)
  expect(() => structuredClone(answer)).not.toThrow()
}

describe('a command that takes the id of a workflow', () => {
  const commands = [
    'pauseWorkflow',
    'resumeWorkflow',
    'archiveWorkflow',
    'restoreWorkflow',
    'deleteWorkflow',
    'runWorkflow',
  ] as const
  const ids: [unknown, string, string][] = [
    [undefined, 'invalid_input', 'The id of a workflow is nothing. It must be a string that is not empty.'],
    [null, 'invalid_input', 'The id of a workflow is null.'],
    [7, 'invalid_input', 'The id of a workflow is a number.'],
    ['', 'invalid_input', 'The id of a workflow is an empty string.'],
    [{ id: 'wf' }, 'invalid_input', 'The id of a workflow is an object.'],
    [Symbol('wf'), 'invalid_input', 'The id of a workflow is a symbol.'],
    ['wf_none', 'not_found', 'There is no workflow "wf_none".'],
  ]

  test.each(commands.flatMap((command) => ids.map(([given, code, sentence]) => ({ command, given, code, sentence }))))(
    '$command says what is wrong with $given',
    async ({ command, given, code, sentence }) => {
      await expectRefused(code, sentence, () => untyped()[command](given))
    },
  )
})

describe('deployWorkflow', () => {
  const source = consumerScript()
  const requests: [unknown, string][] = [
    [
      undefined,
      'deployWorkflow takes one object { source, name?, workflowId?, activate?, grant? }; it was given nothing.',
    ],
    [null, 'it was given null.'],
    [source, 'it was given a string.'],
    [{}, 'There is no script to deploy: `source` is nothing, and must be its text.'],
    [{ source: '  ' }, 'There is no script to deploy: `source` is a string'],
    [{ source: 5 }, 'There is no script to deploy: `source` is a number'],
    [{ source, name: 5 }, '`name` is a number. It must be a string.'],
    [{ source, name: '' }, 'The name of a workflow is empty.'],
    [{ source, name: 'x'.repeat(101) }, 'is 101 characters long; at most 100 are allowed.'],
    [{ source, name: 'a/b' }, 'contains "/" where it must not'],
    [{ source, workflowId: 7 }, '`workflowId` is a number. It must be the id of a workflow'],
    [{ source, workflowId: null }, '`workflowId` is null.'],
    [{ source, activate: 'yes' }, '`activate` is a string. It must be true or false.'],
    [{ source, grant: 'all' }, '`grant` is a string. It must be "declared", "none" or a list of permissions'],
    [{ source, grant: ['demo', 5] }, '`grant` is an array.'],
  ]

  test.each(requests)('of %j is refused with the reason', async (request, sentence) => {
    await expectRefused('invalid_input', sentence, () => untyped().deployWorkflow(request))
  })

  test('of a new version of nothing is refused', async () => {
    await expectRefused('not_found', 'There is no workflow "wf_none".', () =>
      world.engine.deployWorkflow({ source, workflowId: 'wf_none' }),
    )
  })

  const schedules: [string, string][] = [
    [`{ interval: '5x' }`, '"5x" is not an interval. Write a whole number and a unit (s, m, h or d)'],
    [`{ interval: 300 }`, 'A value of type number is not an interval.'],
    [`{ interval: '5s' }`, 'The interval "5s" is too short: the shortest is "10s".'],
    [`{ cron: 'soon' }`, 'A cron expression has five fields'],
    [`{ cron: '61 * * * *' }`, 'The minute "61" in the cron expression "61 * * * *" cannot be read'],
    [`{ cron: '0 9 31 2 *' }`, 'never fires'],
    [`{ cron: '0 9 * * *', timezone: 'Mars/Base' }`, '"Mars/Base" is not a time zone.'],
    [`{ interval: '5m', cron: '0 9 * * *' }`, 'either an interval or a cron expression'],
    [`{}`, 'A schedule needs an interval or a cron expression'],
  ]

  test.each(schedules)(
    'of a producer with the schedule %s names it with line and column',
    async (schedule, sentence) => {
      const bad = producerScript(`async handler() {}`, schedule)
      await expectRefused('invalid_script', sentence, () => world.engine.deployWorkflow({ source: bad }))
      const answer = await world.engine.deployWorkflow({ source: bad, workflowId: id })
      expect(answer).toMatchObject({
        ok: false,
        error: {
          details: expect.arrayContaining([
            expect.objectContaining({ severity: 'error', line: 5, column: 24 }),
          ]) as unknown,
        },
      })
      expect(world.value(`SELECT active_version FROM workflows`)).toBe(1)
    },
  )

  test.each([
    ['that cannot be read', `export default defineWorkflow({`],
    ['without a workflow', `const x = 1`],
    ['that throws', `throw new Error('at the top')`],
  ])('of a script %s changes nothing', async (_, bad) => {
    await expectRefused('invalid_script', 'The script has one problem and was not deployed. Line 1', () =>
      world.engine.deployWorkflow({ source: bad, workflowId: id }),
    )
  })
})

describe('publishEvent', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  let deep: unknown = 1
  for (let level = 0; level < 600; level += 1) deep = [deep]
  const calls: [string, unknown[], string, string][] = [
    [
      'no topic',
      [undefined, { messageId: 'a' }],
      'invalid_input',
      'The topic is nothing. It must be the name of a topic.',
    ],
    ['a number as topic', [5, { messageId: 'a' }], 'invalid_input', 'The topic is a number.'],
    [
      'an unknown topic',
      ['nowhere', { messageId: 'a' }],
      'unknown_topic',
      '"carrier" has no topic "nowhere". It has "item", "done".',
    ],
    ['a topic of every object', ['constructor', { messageId: 'a' }], 'unknown_topic', 'has no topic "constructor"'],
    ['no event', ['item', undefined], 'invalid_input', 'The event is nothing, which cannot be written as JSON.'],
    ['null', ['item', null], 'invalid_input', 'topics.publish: the event is null, not an object'],
    ['a word', ['item', 'a'], 'invalid_input', 'the event is a string, not an object'],
    ['no message id', ['item', { payload: 1 }], 'invalid_input', 'the event has no messageId.'],
    ['a number as message id', ['item', { messageId: 7 }], 'invalid_input', 'the messageId is a number, not a string.'],
    [
      'a title that is none',
      ['item', { messageId: 'a', title: [] }],
      'invalid_input',
      'the title is an array, not a string.',
    ],
    ['a function', ['item', () => 1], 'invalid_input', 'The event is a function, which cannot be written as JSON.'],
    [
      'a big number',
      ['item', { messageId: 'a', payload: 1n }],
      'invalid_input',
      'The event cannot be written as JSON: Do not know how to serialize a BigInt',
    ],
    [
      'a circle',
      ['item', { messageId: 'a', payload: circle }],
      'invalid_input',
      'The event cannot be written as JSON: Converting circular structure to JSON',
    ],
    [
      'a deep payload',
      ['item', { messageId: 'a', payload: deep }],
      'invalid_input',
      'The event is nested more than 500 levels deep.',
    ],
  ]

  test.each(calls)('with %s is refused with the reason', async (_, args, code, sentence) => {
    await expectRefused(code, sentence, () => untyped().publishEvent(id, ...args))
  })

  test.each([undefined, 3])('to a workflow called %s is refused', async (workflowId) => {
    await expectRefused('invalid_input', 'The id of a workflow is', () =>
      untyped().publishEvent(workflowId, 'item', { messageId: 'a' }),
    )
  })
})

describe('resolveEscalation', () => {
  const calls: [string, unknown[], string, string][] = [
    ['nothing', [], 'invalid_input', 'The id of an escalation is nothing.'],
    [
      'no action',
      ['esc_1'],
      'invalid_input',
      'There is no action nothing. The actions are "happened", "did_not_happen"',
    ],
    ['an action that is none', ['esc_1', 'explode'], 'invalid_input', 'There is no action "explode". The actions are'],
    [
      'a result that is a function',
      ['esc_1', 'happened', () => 1],
      'invalid_input',
      'The result is a function, which cannot be written as JSON.',
    ],
    [
      'a result with a big number',
      ['esc_1', 'happened', { n: 1n }],
      'invalid_input',
      'The result cannot be written as JSON',
    ],
    ['an unknown id', ['esc_1', 'happened'], 'not_found', 'There is no escalation "esc_1".'],
  ]

  test.each(calls)('with %s is refused with the reason', async (_, args, code, sentence) => {
    await expectRefused(code, sentence, () => untyped().resolveEscalation(...args))
  })
})

describe('a question', () => {
  test.each([
    ['getRun', [undefined], 'invalid_input', 'The id of a run is nothing.'],
    ['getRun', [{}], 'invalid_input', 'The id of a run is an object.'],
    ['getRun', ['run_none'], 'not_found', 'There is no run "run_none".'],
    [
      'listEscalations',
      [null],
      'invalid_input',
      'listEscalations takes { open: true } or { open: false }; it was given null.',
    ],
    ['listEscalations', ['open'], 'invalid_input', 'it was given a string.'],
    ['listEscalations', [{ open: 'yes' }], 'invalid_input', '`open` is a string. It must be true or false.'],
  ] as const)('%s%j is refused with the reason', async (query, args, code, sentence) => {
    await expectRefused(code, sentence, () => untyped()[query](...args))
  })
})

test('what was committed but could not be saved, because another tab took over, is not said to be done', async () => {
  world.failBarriers()
  expect(await world.engine.pauseWorkflow(id)).toEqual({
    ok: false,
    error: {
      code: 'read_only',
      message: 'Another tab has taken over meanwhile: nothing was saved. Try it again there.',
    },
  })
})
