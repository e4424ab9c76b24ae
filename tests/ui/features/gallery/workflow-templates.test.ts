import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withAddress } from '#ui/features/gallery/with-address.ts'
import { workflowTemplates } from '#ui/features/gallery/workflow-templates.ts'
import { startMisbehavingServer, type MisbehavingServer } from '../../../support/misbehaving-server.ts'
import { openDemoEngine, type DemoEngine } from '../../../support/demo-engine.ts'

const UNFINISHED = `SELECT topics.name, message_id FROM events JOIN topics ON topics.id = topic_id
  WHERE status IN ('pending', 'reserved') AND EXISTS (
    SELECT 1 FROM workflows, json_each(handler_config, '$.consumers') AS consumer, json_each(consumer.value, '$.subscribe') AS topic
    WHERE workflows.id = events.workflow_id AND topic.value = topics.name)`

const feed = `<rss version="2.0"><channel><title>News</title><link>https://news.example</link>
  <item><guid>1</guid><title>One</title><link>https://news.example/1</link></item>
  <item><guid>2</guid><title>Two</title><link>https://news.example/2</link></item></channel></rss>`

let server: MisbehavingServer
beforeAll(async () => {
  server = await startMisbehavingServer()
  server.on('/feed.xml', (response) => response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(feed))
  server.on('/', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>T</title>Hello'))
})
afterAll(() => server.close())

const sourceOf = (template: (typeof workflowTemplates)[number]): string => {
  if (template.address === undefined) return template.source
  const { pathname } = new URL(template.address.example)
  const source = withAddress(template, server.url + pathname)
  if (!source.ok) throw new Error(source.error)
  return source.value
}

const approveEverything = async (world: DemoEngine, workflowId: string): Promise<void> => {
  for (const { message_id: messageId } of world.rows(UNFINISHED)) {
    await world.engine.publishEvent(workflowId, 'approved', { messageId: String(messageId) })
  }
  await world.engine.idle()
}

// Real engines on a shared machine: how long it takes is not what is promised.
describe('a workflow of the gallery', { timeout: 60_000 }, () => {
  it.each(workflowTemplates)('$id carries every event to its end', async (template) => {
    const world = await openDemoEngine()
    const deployed = await world.engine.deployWorkflow({ source: sourceOf(template) })
    expect(deployed).toMatchObject({ ok: true, value: { warnings: [] } })
    if (!deployed.ok) return
    const { workflowId } = deployed.value
    await world.engine.idle()
    await world.engine.runWorkflow(workflowId)
    await world.engine.idle()
    await world.pass(12)
    if (template.id === 'approval') {
      expect(world.rows(UNFINISHED)).not.toEqual([])
      await approveEverything(world, workflowId)
    }

    expect(world.rows(UNFINISHED)).toEqual([])
    expect(world.rows('SELECT kind, message FROM escalations')).toEqual([])
    expect(world.value(`SELECT count(*) FROM events WHERE status = 'consumed'`)).toBeGreaterThan(0)
    const applied = world.value(`SELECT count(*) FROM mutations WHERE status = 'applied'`)
    expect(applied).toBeGreaterThan(0)
    expect(await world.effects()).toHaveLength(Number(applied))
  })
})
