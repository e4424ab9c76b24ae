import { beforeEach, describe, expect, test } from 'vitest'
import type { Archive } from '#engine/model/archive.ts'
import type { Result } from '#engine/model/result.ts'
import { agent, failTask, sendTask } from '../../../support/agents.ts'
import { consumerScript, producerScript, publishTwo } from '../../../support/scripts.ts'
import { openSessionWorld, type SessionWorld } from '../../../support/session-world.ts'
import { failed } from '../../../support/test-engine.ts'

const DAY = 24 * 60 * 60_000

let world: SessionWorld

beforeEach(async () => {
  world = await openSessionWorld()
})

const must = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}
const archives = (): Archive[] => world.engine.listArchives({ limit: 100 })
const tables = (): string[] =>
  world.rows(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).map(({ name }) => String(name))
/** Rows by table, without the archive and what counts or remembers. */
const counts = (): Record<string, unknown> =>
  Object.fromEntries(
    tables()
      .filter((name) => !['archives', 'settings', 'sqlite_sequence'].includes(name))
      .map((name) => [name, world.value(`SELECT count(*) FROM ${name}`)]),
  )
const chatty = `export default defineAgent({
  async prepare(state, ctx) { await ctx.session.inbox(); return { data: {} } },
  async mutate(prepared, ctx) { await ctx.box.send('x') },
  async next(prepared, mutation, ctx) {
    ctx.log.info('done')
    await ctx.session.context.set('note', { by: ctx.session.agent.key })
    await ctx.session.send('b', 'hello')
    await ctx.session.output({ n: 1 })
  },
})`
const finished = (): Promise<string> =>
  world.run([agent('a', { source: chatty }), agent('b', { dependsOn: ['a'], source: sendTask })])

describe('a finished session', () => {
  test('is archived by itself when it is older than the retention, and everything it owned is gone', async () => {
    const before = counts()
    const id = await finished()
    world.clock.advance(29 * DAY)
    await world.engine.idle()
    expect(archives()).toEqual([])
    world.clock.advance(2 * DAY)
    await world.until(() => archives().length === 1)
    expect(archives()).toMatchObject([
      { kind: 'session', subjectId: id, title: 'Get it done', isPutAway: true, restoredAt: null },
    ])
    expect(counts()).toEqual(before)
    expect(world.engine.getSessionStatus(id)).toMatchObject({ ok: false, error: { code: 'not_found' } })
    expect(must(await world.engine.reclaimSpace())).toMatchObject({ sessions: 0, runs: 0 })
  })

  test('comes back as it was, to be looked at only, and goes away again', async () => {
    const id = await finished()
    const before = world.status(id)
    const eventsBefore = must(await world.engine.listSessionEvents(id))
    const messages = must(world.engine.listSessionMessages(id))
    const rows = counts()
    must(await world.engine.archiveSession(id))
    // Whoever comes meanwhile takes the numbers that have become free.
    await world.run([agent('other')])
    must(await world.engine.restoreArchive(archives()[0]?.id ?? ''))
    const after = world.status(id)
    expect({ ...after, session: { ...after.session, restoredAt: null } }).toEqual(before)
    expect(after.session.restoredAt).toBe(world.clock.now())
    expect(must(await world.engine.listSessionEvents(id)).slice(0, -1)).toEqual(eventsBefore)
    expect(must(world.engine.listSessionMessages(id))).toEqual(messages)
    expect(must(world.engine.listSessionContext(id))).toMatchObject([{ key: 'note', value: '{"by":"a"}' }])
    expect(world.value('SELECT count(*) FROM logs')).toBe(rows['logs'])
    for (const refused of [
      await world.engine.startSession(id),
      await world.engine.cancelSession(id),
      await world.engine.addAgent(id, agent('late')),
    ]) {
      expect(refused).toMatchObject({ ok: false, error: { code: 'read_only' } })
    }
    expect(must(await world.engine.cloneSession(id)).sessionId).not.toBe(id)
    must(await world.engine.archiveSession(id))
    expect(world.engine.getSessionStatus(id)).toMatchObject({ ok: false })
    expect(archives()).toMatchObject([{ isPutAway: true, restoredAt: null }])
  })

  test('that was brought back goes away by itself after another retention', async () => {
    const id = await finished()
    must(await world.engine.archiveSession(id))
    must(await world.engine.restoreArchive(id))
    world.clock.advance(31 * DAY)
    await world.until(() => archives()[0]?.isPutAway === true)
    expect(world.engine.getSessionStatus(id)).toMatchObject({ ok: false })
  })

  test('is one JSON document that tells everything', async () => {
    const id = await finished()
    must(await world.engine.archiveSession(id))
    const { fileName, bytes } = must(world.engine.getArchiveDocument(id))
    expect(fileName).toBe(`${id}.json.gz`)
    const document = JSON.parse(new TextDecoder().decode(bytes)) as { kind: string; tables: Record<string, unknown[]> }
    expect(document).toMatchObject({ format: 'holdfast-archive', version: 1, kind: 'session', id })
    expect(document.tables['session_agents']).toHaveLength(2)
    expect(document.tables['mutations']).toHaveLength(2)
  })

  test('is kept for ever with a retention of 0, and archived at once when the retention gets shorter', async () => {
    must(await world.engine.setRetention({ days: 0 }))
    await finished()
    world.clock.advance(400 * DAY)
    await world.engine.idle()
    expect(must(await world.engine.reclaimSpace())).toMatchObject({ sessions: 0 })
    must(await world.engine.setRetention({ days: 399 }))
    await world.until(() => world.engine.getRetention().last !== null)
    expect(world.engine.getRetention()).toMatchObject({ days: 399, archives: { count: 1 }, last: { sessions: 1 } })
  })

  test('with hundreds of rows goes in small transactions, and the engine works in between', async () => {
    const agents = Array.from({ length: 90 }, (_, n) => agent(`a${n}`))
    const id = await world.run(agents, { strategy: 'parallel' })
    const before = world.status(id)
    const other = await world.deploy(consumerScript())
    const archiving = world.engine.archiveSession(id)
    let deletions = 0
    world.onReach = (point) => {
      if (point === 'archive_rows_deleted') deletions += 1
    }
    await world.publish(other)
    must(await archiving)
    expect(deletions).toBeGreaterThan(1)
    await world.settle()
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'consumed'`)).toBe(1)
    must(await world.engine.restoreArchive(id))
    expect(world.status(id).agents).toEqual(before.agents)
  }, 30_000)
})

describe('not archived is', () => {
  test('a session that goes on, or that nobody knows', async () => {
    world.box.answers.push('never')
    const id = await world.create([agent('a', { source: sendTask })])
    expect(await world.engine.archiveSession(id)).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
    await world.engine.startSession(id)
    expect(await world.engine.archiveSession(id)).toMatchObject({
      ok: false,
      error: { message: '"Get it done" is running: only what is finished can be archived.' },
    })
    expect(await world.engine.archiveSession('sess_x')).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  test('a session that changes between the reading and the archiving', async () => {
    const id = await world.run([agent('a', { source: failTask })])
    const archiving = world.engine.archiveSession(id)
    const retried = world.engine.retryAgent(id, 'a')
    expect(await archiving).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
    must(await retried)
    expect(archives()).toEqual([])
  })

  test('a run that waits for a person, nor the last run of a workflow', async () => {
    world.box.answers.push(failed('logic'))
    await world.deploy(consumerScript())
    const asking = await world.deploy(producerScript(`async handler(state, ctx) { await ctx.box.get(1) }`))
    await world.settle()
    const runId = String(world.value(`SELECT id FROM script_runs WHERE workflow_id = ?`, asking))
    world.clock.advance(40 * DAY)
    await world.settle()
    must(await world.engine.reclaimSpace())
    expect(world.value(`SELECT count(*) FROM script_runs WHERE id = ?`, runId)).toBe(1)
    expect(await world.engine.archiveRun(runId)).toMatchObject({ ok: false, error: { code: 'illegal_transition' } })
  })
})

describe('a finished run', () => {
  test('is archived when it is old, its events stay, and it comes back as it was', async () => {
    const id = await world.deploy(producerScript(publishTwo, `{ interval: '30d' }`))
    await world.settle()
    const runId = String(world.value(`SELECT id FROM script_runs`))
    const before = must(world.engine.getRun(runId))
    world.clock.advance(31 * DAY)
    await world.settle()
    await world.until(() => archives().length === 1)
    expect(archives()).toMatchObject([{ kind: 'run', subjectId: runId, isPutAway: true }])
    expect(world.engine.getRun(runId)).toMatchObject({ ok: false, error: { code: 'not_found' } })
    // Forgetting them would make what was published once look new.
    expect(world.value(`SELECT count(*) FROM events`)).toBe(2)
    must(await world.engine.restoreArchive(runId))
    expect(must(world.engine.getRun(runId))).toEqual(before)
    expect(await world.engine.deleteWorkflow(id)).toMatchObject({ ok: true })
  })

  test('of a workflow that is gone cannot come back, but its document can be had', async () => {
    const id = await world.deploy(producerScript(publishTwo, `{ interval: '30d' }`))
    await world.settle()
    const runId = String(world.value(`SELECT id FROM script_runs`))
    expect(await world.engine.archiveRun(runId)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('daily limits') as unknown },
    })
    world.clock.advance(DAY)
    must(await world.engine.archiveRun(runId))
    await world.engine.deleteWorkflow(id)
    const refused = await world.engine.restoreArchive(runId)
    expect(refused).toMatchObject({ ok: false, error: { code: 'storage' } })
    expect(refused.ok ? '' : refused.error.message).toContain('can still be downloaded')
    expect(archives()).toMatchObject([{ isPutAway: true }])
    expect(must(world.engine.getArchiveDocument(runId)).bytes.length).toBeGreaterThan(10)
  })
})

describe('a workflow with a retention of its own', () => {
  /** With one finished run and a later one, which stays because it is the last. */
  const deployOld = async (retentionDays: number | null): Promise<{ id: string; runId: string }> => {
    const id = await world.deploy(producerScript(publishTwo, `{ interval: '366d' }`))
    await world.settle()
    const runId = String(world.value(`SELECT id FROM script_runs WHERE workflow_id = ?`, id))
    must(await world.engine.changeWorkflow(id, { retentionDays }))
    world.clock.advance(1)
    must(await world.engine.runWorkflow(id))
    await world.settle()
    return { id, runId }
  }
  const isKept = (runId: string): boolean => world.engine.getRun(runId).ok
  const letDaysPass = async (days: number): Promise<void> => {
    world.clock.advance(days * DAY)
    await world.settle()
    must(await world.engine.reclaimSpace())
  }

  test('keeps what everywhere would put away, or puts it away earlier, and the others are as they were', async () => {
    const long = await deployOld(90)
    const short = await deployOld(7)
    const plain = await deployOld(null)
    const kept = (): boolean[] => [long, short, plain].map(({ runId }) => isKept(runId))
    await letDaysPass(6)
    expect(kept()).toEqual([true, true, true])
    await letDaysPass(2)
    expect(kept()).toEqual([true, false, true])
    await letDaysPass(23)
    expect(kept()).toEqual([true, false, false])
    await letDaysPass(58)
    expect(kept()).toEqual([true, false, false])
    await letDaysPass(2)
    expect(kept()).toEqual([false, false, false])
    expect(world.value(`SELECT count(*) FROM events`)).toBe(6)
    for (const { runId } of [long, short, plain]) {
      must(await world.engine.restoreArchive(runId))
      expect(isKept(runId)).toBe(true)
    }
  })

  test('keeps its runs for ever with 0, whatever is said everywhere', async () => {
    const { runId } = await deployOld(0)
    must(await world.engine.setRetention({ days: 1 }))
    await letDaysPass(300)
    expect(isKept(runId)).toBe(true)
    expect(world.engine.getRetention().due).toEqual({ sessions: 0, runs: 0 })
  })

  test('puts them away where everything else is kept for ever', async () => {
    const own = await deployOld(7)
    const plain = await deployOld(null)
    must(await world.engine.setRetention({ days: 0 }))
    await letDaysPass(300)
    expect([own, plain].map(({ runId }) => isKept(runId))).toEqual([false, true])
  })

  test('puts away by itself what is too old as soon as the retention gets shorter, and is counted as due until then', async () => {
    const { id, runId } = await deployOld(0)
    await letDaysPass(40)
    expect(world.engine.getRetention().due.runs).toBe(0)
    const changing = world.engine.changeWorkflow(id, { retentionDays: null })
    expect(world.engine.getRetention().due.runs).toBe(1)
    must(await changing)
    await world.until(() => archives()[0]?.isPutAway === true)
    expect(archives()).toMatchObject([{ subjectId: runId }])
  })

  test('sees off what was brought back by its own days too', async () => {
    const long = await deployOld(90)
    const short = await deployOld(7)
    await letDaysPass(91)
    for (const { runId } of [long, short]) must(await world.engine.restoreArchive(runId))
    await letDaysPass(8)
    expect([long, short].map(({ runId }) => isKept(runId))).toEqual([true, false])
    await letDaysPass(30)
    expect(isKept(long.runId)).toBe(true)
    await letDaysPass(60)
    expect(isKept(long.runId)).toBe(false)
  })

  test('keeps it through a death of the tab', async () => {
    const { id, runId } = await deployOld(90)
    await world.crash()
    await letDaysPass(40)
    expect(isKept(runId)).toBe(true)
    expect(world.store.workflows.get(id)?.retentionDays).toBe(90)
  })
})

test('the room of what was archived is given back', async () => {
  const big = `export default defineAgent({
    async prepare(state, ctx) { return { data: { big: 'x'.repeat(200000) } } },
    async next(prepared, mutation, ctx) { await ctx.session.output(prepared.data.big) },
  })`
  const id = await world.run(
    Array.from({ length: 10 }, (_, n) => agent(`a${n}`, { source: big })),
    { strategy: 'parallel' },
  )
  const { fileBytes } = world.engine.getRetention().space
  must(await world.engine.archiveSession(id))
  must(await world.engine.deleteArchive(archives()[0]?.id ?? ''))
  expect(world.engine.getRetention().space.freeBytes).toBeGreaterThan(fileBytes / 2)
  const { freedBytes } = must(await world.engine.reclaimSpace())
  expect(freedBytes).toBeGreaterThan(fileBytes / 2)
  expect(world.engine.getRetention()).toMatchObject({ space: { freeBytes: 0 }, progress: null, problem: null })
  await world.run([agent('further')])
})

test.each([
  [{ days: -1 }, 'from 0'],
  [{ days: 1.5 }, 'whole number'],
  [null, 'whole number'],
])('a retention of %j is refused with a sentence', async (change, sentence) => {
  const refused = await world.engine.setRetention(change as never)
  expect(refused).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
  expect(refused.ok ? '' : refused.error.message).toContain(sentence)
})
