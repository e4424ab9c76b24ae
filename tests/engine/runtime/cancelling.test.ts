import { beforeEach, describe, expect, test } from 'vitest'
import { failed, heldAnswer, openTestEngine, type TestEngine } from '../../support/test-engine.ts'
import { consumerScript } from '../../support/scripts.ts'

let world: TestEngine
let id: string

beforeEach(async () => {
  world = await openTestEngine()
})

const carried = (columns: string): Record<string, unknown>[] =>
  world.rows(`SELECT ${columns} FROM handler_runs WHERE script_run_id <> (SELECT min(id) FROM script_runs) ORDER BY id`)
const current = (): string => String(carried('id').at(-1)?.['id'])
const cancel = () => world.engine.internals.transitions.cancelAttempt(current(), 'The session was cancelled.')
const eventStatus = (): unknown => world.value(`SELECT status FROM events WHERE message_id = 'm1'`)

const deploy = async (script = consumerScript({ next: null })): Promise<void> => {
  id = await world.deploy(script)
  await world.settle()
}

describe('cancelling an attempt', () => {
  test('whose prepare is running drops what prepare returns, and the events stay free', async () => {
    await deploy(
      consumerScript({
        prepare: `async prepare(state, ctx) {
          const [event] = await ctx.topics.peek('item')
          if (event) await ctx.box.get('slow')
          return { reservations: event ? [{ topic: 'item', ids: [event.messageId] }] : [], data: 1 }
        }`,
      }),
    )
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id)
    await world.until(() => world.box.calls.length === 1)
    await world.engine.pauseWorkflow(id)
    expect(cancel()).toEqual({ ok: true, value: undefined })
    held.give()
    await world.settle()
    expect(carried('phase, status, error, error_type, prepare_result')).toEqual([
      {
        phase: 'preparing',
        status: 'cancelled',
        error: 'The session was cancelled.',
        error_type: null,
        prepare_result: null,
      },
    ])
    expect(eventStatus()).toBe('pending')
    expect(world.value(`SELECT result FROM script_runs ORDER BY id DESC`)).toBe('cancelled')
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(eventStatus()).toBe('consumed')
  })

  test('after the script of mutate releases its events, and nothing is sent for it', async () => {
    await deploy()
    world.onReach = (reached) => {
      if (
        reached !== 'after_script' ||
        world.value(`SELECT phase FROM handler_runs WHERE id = ?`, current()) !== 'mutating'
      )
        return
      world.onReach = null
      world.change(`UPDATE workflows SET status = 'paused'`)
      expect(cancel()).toMatchObject({ ok: true })
    }
    await world.publish(id)
    await world.settle()
    expect(carried('phase, status')).toEqual([{ phase: 'mutating', status: 'cancelled' }])
    expect(world.box.calls).toEqual([])
    expect(eventStatus()).toBe('pending')
    expect(world.rows(`SELECT status FROM mutations WHERE status <> 'failed'`)).toEqual([])
  })

  test('whose mutation is under way is refused: the outcome is recorded and the events are not given to another', async () => {
    await deploy()
    const held = heldAnswer()
    world.box.answers.push(held.answer)
    await world.publish(id)
    await world.until(() => world.box.calls.length === 1)
    const before = world.dump()
    expect(cancel()).toEqual({
      ok: false,
      error: {
        code: 'illegal_transition',
        message: '"carry" cannot be cancelled: its mutation is under way and has to finish.',
      },
    })
    expect(world.dump()).toBe(before)
    held.give()
    await world.settle()
    expect(eventStatus()).toBe('consumed')
    expect(world.box.calls).toHaveLength(1)
  })

  test('that is past its mutation is refused: next is still owed', async () => {
    await deploy(consumerScript({ next: `async next() { throw new Error('broken') }` }))
    world.onReach = (reached) => {
      if (reached !== 'mutation_settled') return
      world.onReach = null
      expect(cancel()).toMatchObject({
        error: {
          code: 'illegal_transition',
          message: '"carry" cannot be cancelled: it is past its mutation and has to finish.',
        },
      })
    }
    await world.publish(id)
    await world.settle()
    expect(world.onReach).toBeNull()
    expect(carried('phase, status')).toEqual([{ phase: 'emitting', status: 'failed:logic' }])
  })

  test('whose outcome is in doubt, or that has ended, is refused by the table', async () => {
    await deploy()
    world.box.answers.push(failed('network', 'uncertain'))
    await world.publish(id)
    await world.settle()
    expect(cancel()).toMatchObject({ error: { code: 'illegal_transition' } })
    await world.resolve('happened')
    await world.settle()
    expect(world.engine.internals.transitions.cancelAttempt(String(carried('id')[0]?.['id']), 'x')).toMatchObject({
      error: { code: 'illegal_transition', message: expect.stringContaining('"committed"') as unknown },
    })
    expect(world.engine.internals.transitions.cancelAttempt('hr_none', 'x')).toMatchObject({
      error: { code: 'not_found' },
    })
  })

  test('that waits for its retry takes the retry back', async () => {
    await deploy()
    world.box.answers.push(failed('network'))
    await world.publish(id)
    await world.settle()
    await world.engine.pauseWorkflow(id)
    expect(cancel()).toMatchObject({ ok: true })
    world.clock.advance(60_000)
    await world.settle()
    expect(carried('status, retry_at')).toEqual([{ status: 'cancelled', retry_at: null }])
    await world.engine.resumeWorkflow(id)
    await world.settle()
    expect(carried('attempt, status').slice(1)).toEqual([
      { attempt: 1, status: 'committed' },
      { attempt: 1, status: 'committed' },
    ])
    expect(eventStatus()).toBe('consumed')
  })

  test('that waits for a person withdraws the question and lifts the block', async () => {
    await deploy()
    world.box.answers.push(failed('auth'))
    await world.publish(id)
    await world.settle()
    const [question] = world.questions()
    expect(cancel()).toMatchObject({ ok: true })
    expect(world.questions()).toEqual([])
    expect(world.engine.listWorkflows()).toMatchObject([{ block: null }])
    expect(await world.engine.resolveEscalation(question?.id ?? '', 'reconnect')).toMatchObject({
      error: { code: 'already_resolved' },
    })
    await world.publish(id, 'm2')
    await world.settle()
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'consumed'`)).toBe(2)
  })
})
