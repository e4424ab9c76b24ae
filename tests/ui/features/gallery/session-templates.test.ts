import { describe, expect, it } from 'vitest'
import { sessionTemplates } from '#ui/features/gallery/session-templates.ts'
import { openDemoEngine } from '../../../support/demo-engine.ts'

describe('a session of the gallery', { timeout: 60_000 }, () => {
  it.each(sessionTemplates)('$id reaches its objective with every agent', async ({ session }) => {
    const world = await openDemoEngine()
    const created = await world.engine.createSession(session)
    if (!created.ok) throw new Error(JSON.stringify(created.error))
    const { sessionId } = created.value
    expect(await world.engine.startSession(sessionId)).toMatchObject({ ok: true })
    await world.engine.idle()
    await world.pass(2)

    const status = world.engine.getSessionStatus(sessionId)
    expect(status).toMatchObject({
      ok: true,
      value: { progress: 1, session: { state: 'completed', errorMessage: null } },
    })
    expect(status.ok && status.value.agents.map(({ state, output }) => [state, output !== null])).toEqual(
      session.agents.map(() => ['completed', true]),
    )
    expect(world.rows('SELECT message FROM escalations')).toEqual([])
    expect(await world.effects()).toHaveLength(
      Number(world.value(`SELECT count(*) FROM mutations WHERE status = 'applied'`)),
    )
  })

  it('morning-briefing tells the team what its three readers found', async () => {
    const world = await openDemoEngine()
    const [briefing] = sessionTemplates
    const created = await world.engine.createSession(
      briefing?.session ?? { objective: '', strategy: 'parallel', agents: [] },
    )
    if (!created.ok) throw new Error(created.error.message)
    await world.engine.startSession(created.value.sessionId)
    await world.engine.idle()
    await world.pass(1)
    const params = String(world.value(`SELECT params FROM mutations WHERE tool_method = 'chat.send'`))
    expect(JSON.parse(params)).toMatchObject({
      channel: 'briefing',
      text: expect.stringMatching(/30 mails[^]*8 customers/) as string,
    })
  })
})
