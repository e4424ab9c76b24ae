import { expect, test } from 'vitest'
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript, producerScript } from '../../support/scripts.ts'

type Phase = 'producer' | 'prepare' | 'mutate' | 'next'
const phases: readonly Phase[] = ['producer', 'prepare', 'mutate', 'next']

/** 1.3, cell by cell. */
const table: { operation: string; statement: string; allowed: readonly Phase[] }[] = [
  { operation: 'topics.peek', statement: `await ctx.topics.peek('item')`, allowed: ['prepare'] },
  { operation: 'topics.getByIds', statement: `await ctx.topics.getByIds('item', ['m1'])`, allowed: ['prepare'] },
  {
    operation: 'topics.publish',
    statement: `await ctx.topics.publish('PUBLISHES', { messageId: 'x' })`,
    allowed: ['producer', 'next'],
  },
  { operation: 'box.get', statement: `await ctx.box.get('read')`, allowed: ['producer', 'prepare'] },
  { operation: 'box.send', statement: `await ctx.box.send('mutation')`, allowed: ['mutate'] },
  { operation: 'log.info', statement: `ctx.log.info('said')`, allowed: phases },
  { operation: 'now', statement: `ctx.now()`, allowed: phases },
  { operation: 'random', statement: `ctx.random()`, allowed: phases },
]

/** A script that makes this statement in this phase and nothing else of interest. */
const scriptWith = (statement: string, phase: Phase): string => {
  if (phase === 'producer')
    return producerScript(`async handler(state, ctx) { ${statement.replace('PUBLISHES', 'item')} }`)
  const made = (where: Phase): string => (where === phase ? statement.replace('PUBLISHES', 'done') : '')
  return consumerScript({
    prepare: `async prepare(state, ctx) {
      ${made('prepare')}
      const [event] = await ctx.topics.peek('item')
      return { reservations: event ? [{ topic: 'item', ids: [event.messageId] }] : [], data: 1 }
    }`,
    mutate: `async mutate(prepared, ctx) { ${made('mutate')} }`,
    next: `async next(prepared, mutation, ctx) { ${made('next')} }`,
  })
}

const runWith = async (statement: string, phase: Phase): Promise<TestEngine> => {
  const world = await openTestEngine()
  const id = await world.deploy(scriptWith(statement, phase))
  await world.publish(id)
  await world.settle()
  return world
}

const cells = table.flatMap(({ operation, statement, allowed }) =>
  phases.map((phase) => ({ operation, phase, isAllowed: allowed.includes(phase), statement, allowed })),
)

test.each(cells.filter(({ isAllowed }) => isAllowed))(
  '$operation can be used in $phase',
  async ({ statement, phase }) => {
    const world = await runWith(statement, phase)
    expect(world.rows(`SELECT DISTINCT status FROM handler_runs`)).toEqual([{ status: 'committed' }])
  },
)

test.each(cells.filter(({ isAllowed }) => !isAllowed))(
  '$operation in $phase is a logic error that says where it is allowed, and nothing is sent or published',
  async ({ operation, statement, phase, allowed }) => {
    const world = await runWith(statement, phase)
    const where = allowed.map((name) => `\`${name}\``).join(' and ')
    expect(world.rows(`SELECT status, error_type, error FROM handler_runs WHERE status <> 'committed'`)).toEqual([
      {
        status: 'failed:logic',
        error_type: 'logic',
        error: `\`${operation}\` cannot be used in \`${phase}\`: it is allowed in ${where} only.`,
      },
    ])
    expect(world.box.calls).toEqual([])
    expect(world.value(`SELECT count(*) FROM events WHERE message_id = 'x'`)).toBe(0)
    expect(world.questions()).toMatchObject([
      { kind: 'logic_failure', details: { line: expect.any(Number) as unknown } },
    ])
  },
)

test.each([
  [
    'peek',
    `await ctx.topics.peek('done')`,
    'prepare',
    'topics.peek: the topic "done" is not among the topics that this handler declares in subscribe ("item"). Add it there.',
  ],
  [
    'getByIds',
    `await ctx.topics.getByIds('nowhere', ['m1'])`,
    'prepare',
    'topics.getByIds: the topic "nowhere" is not among the topics that this handler declares in subscribe ("item"). Add it there.',
  ],
  [
    'publish',
    `await ctx.topics.publish('item', { messageId: 'x' })`,
    'next',
    'topics.publish: the topic "item" is not among the topics that this handler declares in publishes ("done"). Add it there.',
  ],
] as const)(
  '%s of a topic that the handler did not declare is a logic error that names both',
  async (_, statement, phase, sentence) => {
    const world = await runWith(statement, phase)
    expect(world.rows(`SELECT status, error FROM handler_runs WHERE status <> 'committed'`)).toEqual([
      { status: 'failed:logic', error: sentence },
    ])
  },
)

test.each(['ctx.box.burn(1)', 'ctx.fetch(1)', 'ctx.topics.drop(1)'])(
  '%s does not exist, and saying so is a logic error',
  async (statement) => {
    const world = await runWith(`await ${statement}`, 'prepare')
    expect(world.value(`SELECT status FROM handler_runs`)).toBe('failed:logic')
  },
)
