import { expect, test } from 'vitest'
import { agent } from '../../../support/agents.ts'
import { openSessionWorld, type SessionWorld } from '../../../support/session-world.ts'

/** More rows than one transaction takes. */
const finishedSession = (world: SessionWorld): Promise<string> =>
  world.run(
    Array.from({ length: 60 }, (_, n) => agent(`a${n}`)),
    { strategy: 'parallel' },
  )

const goneOrWhole = async (world: SessionWorld, id: string): Promise<'gone' | 'whole'> => {
  expect(await world.engine.reclaimSpace()).toMatchObject({ ok: true })
  await world.crash()
  expect(world.engine.info().lastRecovery?.violations).toEqual([])
  const status = world.engine.getSessionStatus(id)
  const rows = Number(world.value('SELECT count(*) FROM handler_runs'))
  const [archive] = world.engine.listArchives({ limit: 2 })
  if (status.ok) {
    expect(rows).toBe(120)
    expect(status.value.agents.every(({ state }) => state === 'completed')).toBe(true)
    return 'whole'
  }
  expect(rows).toBe(0)
  expect(archive).toMatchObject({ subjectId: id, isPutAway: true })
  return 'gone'
}

test.each(['archive_written', 'archive_rows_deleted'] as const)(
  'a tab that dies while a session is archived (%s) leaves its rows or its document, never half of it',
  async (point) => {
    const world = await openSessionWorld()
    const id = await finishedSession(world)
    world.dieAt(point)
    await expect(world.engine.archiveSession(id)).rejects.toThrow()
    await world.crash()
    expect(await goneOrWhole(world, id)).toBe('gone')
    expect(await world.engine.restoreArchive(id)).toMatchObject({ ok: true })
    expect(await goneOrWhole(world, id)).toBe('whole')
  },
  30_000,
)

test('a tab that dies while a session is brought back has it away again, and bringing it back works', async () => {
  const world = await openSessionWorld()
  const id = await finishedSession(world)
  expect(await world.engine.archiveSession(id)).toMatchObject({ ok: true })
  world.dieAt('archive_rows_restored')
  await expect(world.engine.restoreArchive(id)).rejects.toThrow()
  await world.crash()
  expect(await goneOrWhole(world, id)).toBe('gone')
  expect(await world.engine.restoreArchive(id)).toMatchObject({ ok: true })
  expect(world.status(id).agents).toHaveLength(60)
}, 30_000)
