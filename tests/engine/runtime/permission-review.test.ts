import { describe, expect, test } from 'vitest'
import { consumerScript } from '../../support/scripts.ts'
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts'

/** Asks for these permissions, and sends what only `box:secret` allows. */
const asking = (...permissions: string[]): string =>
  consumerScript({ mutate: `async mutate(prepared, ctx) { await ctx.box.send('secret') }` }).replace(
    `name: 'carrier',`,
    `name: 'carrier', permissions: ${JSON.stringify(permissions)},`,
  )

const granted = (world: TestEngine, id: string): string[] | undefined => world.store.workflows.get(id)?.permissions

const deploy = async (world: TestEngine, source: string, over: object): Promise<string> => {
  const deployed = await world.engine.deployWorkflow({ source, ...over })
  if (!deployed.ok) throw new Error(deployed.error.message)
  return deployed.value.workflowId
}

describe('a version that asks for more', () => {
  test.each(['none', []] as const)(
    'and is deployed with grant %j keeps what was granted, stops before anything is sent, and goes on when it is granted',
    async (grant) => {
      const world = await openTestEngine()
      const id = await deploy(world, asking('box:plain'), {})
      await deploy(world, asking('box:plain', 'box:secret'), { workflowId: id, grant })
      expect(granted(world, id)).toEqual(['box:plain'])
      await world.publish(id)
      await world.settle()
      expect(world.box.calls).toEqual([])
      expect(world.value(`SELECT status FROM handler_runs ORDER BY id DESC LIMIT 1`)).toBe('paused:approval')
      const [question] = world.questions()
      expect(question).toMatchObject({ kind: 'permission', details: { neededPermissions: ['box:secret'] } })
      expect(question?.actions).toContain('grant')
      await world.crash()
      await world.resolve('grant')
      await world.settle()
      expect(world.box.calls).toHaveLength(1)
      expect(granted(world, id)).toEqual(['box:plain', 'box:secret'])
    },
  )

  test('gets just what the review let through', async () => {
    const world = await openTestEngine()
    const id = await deploy(world, asking(), {})
    await deploy(world, asking('box:a', 'box:b'), { workflowId: id, grant: ['box:b'] })
    expect(granted(world, id)).toEqual(['box:b'])
  })

  test('gets all of it when nobody says otherwise, as a script on the page expects', async () => {
    const world = await openTestEngine()
    const id = await deploy(world, asking('box:secret'), {})
    await world.publish(id)
    await world.settle()
    expect(granted(world, id)).toEqual(['box:secret'])
    expect(world.box.calls).toHaveLength(1)
  })
})

test('an imported script starts with nothing, as a draft, and asks for what it needs only when it needs it', async () => {
  const world = await openTestEngine()
  const id = await deploy(world, asking('box:secret'), { activate: false, grant: 'none' })
  expect(world.store.workflows.get(id)).toMatchObject({ status: 'draft', permissions: [] })
  await world.publish(id)
  await world.settle()
  expect(world.rows('SELECT * FROM handler_runs')).toEqual([])
  await world.engine.resumeWorkflow(id)
  await world.settle()
  expect(world.box.calls).toEqual([])
  expect(world.questions()).toMatchObject([{ kind: 'permission' }])
})
