import { expect, test } from 'vitest'
import { crashPoints } from '#engine/ports/crash-point.ts'
import { createTools } from '#worker/tools/registry.ts'
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts'
import { createToolKit } from '../../../support/tool-kit.ts'

const script = (mutate: string): string => `
export default defineWorkflow({
  name: 'writer',
  permissions: ['files:reports'],
  topics: { item: {} },
  consumers: {
    write: {
      subscribe: ['item'],
      async prepare(state, ctx) {
        const [event] = await ctx.topics.peek('item', { limit: 1 })
        if (!event) return { reservations: [], data: {} }
        return { reservations: [{ topic: 'item', ids: [event.messageId] }], data: event.payload }
      },
      async mutate({ data }, ctx) { ${mutate} },
    },
  },
})`

const ways: [name: string, mutate: string, before: Record<string, string>, after: Record<string, string>][] = [
  [
    'files.append',
    `await ctx.files.append({ folder: 'reports', path: 'log.txt', text: data.n + ';' })`,
    {},
    { 'log.txt': '0;1;2;' },
  ],
  [
    'files.write',
    `await ctx.files.write({ folder: 'reports', path: data.n + '.txt', text: 'n' + data.n })`,
    { '1.txt': 'old' },
    { '0.txt': 'n0', '1.txt': 'n1', '2.txt': 'n2' },
  ],
  [
    'files.move',
    `await ctx.files.move({ folder: 'reports', path: data.n + '.in', to: data.n + '.out' })`,
    { '0.in': 'a', '1.in': 'b', '2.in': 'c' },
    { '0.out': 'a', '1.out': 'b', '2.out': 'c' },
  ],
  [
    'files.remove',
    `await ctx.files.remove({ folder: 'reports', path: data.n + '.in' })`,
    { '0.in': 'a', '1.in': 'b', '2.in': 'c', 'kept.txt': 'x' },
    { 'kept.txt': 'x' },
  ],
]

/**
 * Until nothing is left to do. Two looks at a file are some seconds apart, so time has to pass meanwhile; but slowly, because
 * digests are made by real threads.
 */
async function liveOn(world: TestEngine): Promise<void> {
  for (let round = 0; round < 4 && !world.isDead(); round += 1) {
    const rest = { isReached: false }
    const settled = world.settle().finally(() => (rest.isReached = true))
    settled.catch(() => undefined)
    for (let turn = 0; turn < 5_000 && !rest.isReached && !world.isDead(); turn += 1) {
      world.clock.advance(100)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    world.clock.advance(60_000)
  }
}

for (const [name, mutate, before, after] of ways) {
  test(`${name} happens once, and nobody is asked, wherever the tab dies`, async () => {
    for (const point of crashPoints) {
      const kit = createToolKit()
      const world = await openTestEngine({}, createTools(kit))
      for (const [path, text] of Object.entries(before)) kit.directory.put(path, text)
      const id = await world.deploy(script(mutate))
      for (let n = 0; n < 3; n += 1) await world.publish(id, `m${String(n)}`, { n })
      world.dieAt(point)
      await liveOn(world)
      if (world.isDead()) await world.crash()
      await liveOn(world)
      expect(world.questions(), point).toEqual([])
      expect(kit.directory.files(), point).toEqual(after)
      expect(world.value(`SELECT count(*) FROM events WHERE status <> 'consumed'`), point).toBe(0)
    }
  }, 60_000)
}
