import { expect, test } from 'vitest'
import { crashPoints } from '#engine/ports/crash-point.ts'
import { dayMs } from '#engine/runtime/daily-limits.ts'
import { consumerScript } from '../../support/scripts.ts'
import { openTestEngine } from '../../support/test-engine.ts'

const allowed = 2
const events = 5

test.each(crashPoints)(
  'a tab that dies at "%s" makes no more mutations in 24 hours than are allowed, and each once',
  async (point) => {
    const world = await openTestEngine()
    const id = await world.deploy(consumerScript())
    await world.engine.changeWorkflow(id, { limits: { mutationsPerDay: allowed } })
    for (let n = 0; n < events; n += 1) await world.publish(id, `m${String(n)}`, { n })
    const madeAt: number[] = []
    world.onReach = (reached) => {
      if (reached === 'mutation_called') madeAt.push(world.clock.now())
    }
    world.dieAt(point)
    for (let step = 0; step < 16; step += 1) {
      await world.settle().catch(() => undefined)
      if (world.isDead()) await world.crash()
      await world.settle()
      for (const question of world.questions()) {
        const n = (question.details['params'] as { n: number }).n
        const happened = world.box.calls.some(({ params }) => (params as { n: number }).n === n)
        await world.engine.resolveEscalation(question.id, happened ? 'happened' : 'did_not_happen')
        await world.settle()
      }
      world.clock.advance(dayMs / 4)
    }
    const numbers = world.box.calls.map(({ params }) => (params as { n: number }).n)
    expect(numbers.toSorted()).toEqual([0, 1, 2, 3, 4])
    for (const at of madeAt) {
      expect(madeAt.filter((other) => other > at - dayMs && other <= at).length).toBeLessThanOrEqual(allowed)
    }
  },
  30_000,
)
