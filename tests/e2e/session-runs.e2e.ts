import { workerScript } from './support/scripts.ts'
import { expect, test } from './support/test.ts'

test('agents of a session run in the order of their dependencies and hand their outputs on', async ({ page }) => {
  await page.goto('./')
  const status = await page.evaluate(async (source) => {
    const engine = globalThis.holdfast
    const created = await engine.createSession({
      objective: 'Write a report',
      strategy: 'adaptive',
      agents: [
        { key: 'research', role: 'researcher', task: 'look things up', source },
        { key: 'write', role: 'writer', task: 'write it down', source, dependsOn: ['research'] },
      ],
    })
    if (!created.ok) return created
    await engine.startSession(created.value.sessionId)
    for (let turn = 0; turn < 200; turn += 1) {
      const now = await engine.getSessionStatus(created.value.sessionId)
      if (!now.ok || now.value.session.state !== 'running') return now
      await engine.idle({ timeoutMs: 500 })
    }
    return engine.getSessionStatus(created.value.sessionId)
  }, workerScript)
  expect(status).toMatchObject({ ok: true, value: { session: { state: 'completed' }, progress: 1 } })
})

test('a tab that follows hears every event of a session once, also while another takes over the lead', async ({
  page,
  context,
}) => {
  await page.goto('./')
  const id = await page.evaluate(async (source) => {
    const agents = ['a', 'b', 'c', 'd'].map((key) => ({ key, role: 'worker', task: key, source }))
    const created = await globalThis.holdfast.createSession({ objective: 'Be heard', strategy: 'sequential', agents })
    return created.ok ? created.value.sessionId : ''
  }, workerScript)
  const other = await context.newPage()
  await other.goto('./')
  await other.evaluate(async (sessionId) => {
    const heard: number[] = []
    Object.assign(globalThis, { heard })
    const subscribed = await globalThis.holdfast.subscribeSession(sessionId, 0, (events) =>
      heard.push(...events.map(({ id: eventId }) => eventId)),
    )
    if (!subscribed.ok) throw new Error(subscribed.error.message)
    await globalThis.holdfast.startSession(sessionId)
  }, id)
  await page.close()
  await expect
    .poll(
      () =>
        other.evaluate(async (sessionId) => {
          const status = await globalThis.holdfast.getSessionStatus(sessionId)
          return status.ok ? status.value.session.state : status.error.code
        }, id),
      { timeout: 60_000 },
    )
    .toBe('completed')
  const trail = await other.evaluate(async (sessionId) => {
    const listed = await globalThis.holdfast.listSessionEvents(sessionId, { limit: 1000 })
    return listed.ok ? listed.value.map(({ id: eventId }) => eventId) : []
  }, id)
  expect(trail.length).toBeGreaterThan(8)
  await expect.poll(() => other.evaluate(() => Reflect.get(globalThis, 'heard') as number[])).toEqual(trail)
})

test('a finished session goes into the archive and comes back to be looked at, also after a reload', async ({
  page,
}) => {
  await page.goto('./')
  const id = await page.evaluate(async (source) => {
    const engine = globalThis.holdfast
    const agents = [{ key: 'a', role: 'worker', task: 'remember me', source }]
    const created = await engine.createSession({ objective: 'Be kept', strategy: 'parallel', agents })
    if (!created.ok) return created.error.message
    await engine.startSession(created.value.sessionId)
    await engine.idle()
    return created.value.sessionId
  }, workerScript)
  const away = await page.evaluate(async (sessionId) => {
    const engine = globalThis.holdfast
    const archived = await engine.archiveSession(sessionId)
    const document = await engine.getArchiveDocument(sessionId)
    const status = await engine.getSessionStatus(sessionId)
    const reclaimed = await engine.reclaimSpace()
    const retention = await engine.getRetention()
    const magic = document.ok ? [...document.value.bytes.slice(0, 2)] : []
    return { archived, magic, status, reclaimed, retention }
  }, id)
  expect(away).toMatchObject({
    archived: { ok: true },
    magic: [0x1f, 0x8b],
    status: { ok: false, error: { code: 'not_found' } },
    reclaimed: { ok: true },
    retention: { ok: true, value: { days: 30, archives: { count: 1 }, space: { freeBytes: 0 }, problem: null } },
  })
  await page.evaluate((sessionId) => globalThis.holdfast.restoreArchive(sessionId), id)
  await page.reload()
  const back = await page.evaluate((sessionId) => globalThis.holdfast.getSessionStatus(sessionId), id)
  expect(back).toMatchObject({
    ok: true,
    value: { session: { state: 'completed', restoredAt: expect.any(Number) as unknown }, agents: [{ key: 'a' }] },
  })
})
