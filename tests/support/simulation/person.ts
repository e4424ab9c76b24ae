import type { Escalation, EscalationAction } from '#engine/model/escalation.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import type { HandClock } from '../hand-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { TabDied } from './mortal-ports.ts'
import type { OutsideWorld } from './outside-world.ts'
import type { Scenario } from './scenario.ts'

/**
 * The person in front of the tab: deploys, pauses, publishes, answers. Remembers what was acknowledged and what was said, because
 * that is what the engine is held to.
 */
export const createPerson = (random: SeededRandom, scenario: Scenario, world: OutsideWorld, clock: HandClock) => {
  let actionsLeft = scenario.actions
  let published = 0
  const workflowIds: string[] = []
  const acknowledgedEvents: { workflowId: string; messageId: string }[] = []
  /** How often somebody claimed that a mutation did not happen although it had: the only excuse for making it twice. */
  const wrongDenials = new Map<string, number>()
  /** Keys about which a person said anything: there the ledger follows the person, not the world. */
  const answeredKeys = new Set<string>()

  const truthfulAction = (escalation: Escalation): EscalationAction => {
    const key = keyOf(escalation)
    return (world.appliedByKey.get(key) ?? 0) > 0 ? 'happened' : 'did_not_happen'
  }

  const chooseAction = (escalation: Escalation, canLie: boolean): EscalationAction => {
    if (escalation.kind !== 'indeterminate_mutation') return random.pick(escalation.actions)
    if (canLie && random.chance(scenario.lies)) return random.pick(escalation.actions)
    return random.chance(0.1) ? 'skip' : truthfulAction(escalation)
  }

  const answer = async (engine: Engine, escalation: Escalation, canLie: boolean): Promise<void> => {
    const action = chooseAction(escalation, canLie)
    if (escalation.kind === 'indeterminate_mutation') {
      const key = keyOf(escalation)
      answeredKeys.add(key)
      const isWrong = action === 'did_not_happen' && (world.appliedByKey.get(key) ?? 0) > 0
      if (isWrong) wrongDenials.set(key, (wrongDenials.get(key) ?? 0) + 1)
    }
    await engine.resolveEscalation(escalation.id, action)
  }

  const publish = async (engine: Engine, workflowId: string): Promise<void> => {
    published += 1
    const messageId = `hand-${String(published)}`
    const done = await engine.publishEvent(workflowId, 'items', { messageId, payload: { i: -published } })
    if (done.ok) acknowledgedEvents.push({ workflowId, messageId })
  }

  const deployMissing = async (engine: Engine, scripts: readonly string[]): Promise<void> => {
    for (const source of scripts.slice(workflowIds.length)) {
      const deployed = await engine.deployWorkflow({ source })
      if (!deployed.ok && deployed.error.code === 'read_only') throw new TabDied()
      if (!deployed.ok) throw new Error(deployed.error.message + JSON.stringify(deployed.error.details))
      workflowIds.push(deployed.value.workflowId)
    }
  }

  const doSomething = async (engine: Engine): Promise<void> => {
    actionsLeft -= 1
    const workflowId = random.pick(workflowIds)
    const [open] = openQuestions(engine)
    if (open !== undefined && random.chance(0.6)) {
      await answer(engine, open, true)
      return
    }
    const deeds: (() => Promise<unknown>)[] = [
      async () => {
        world.addItem()
        await engine.runWorkflow(workflowId)
      },
      () => publish(engine, workflowId),
      () => engine.pauseWorkflow(workflowId),
      () => engine.resumeWorkflow(workflowId),
      () => engine.runWorkflow(workflowId),
      () => {
        clock.advance(random.below(120_000))
        return Promise.resolve()
      },
    ]
    await random.pick(deeds)()
  }

  const answerEverything = async (engine: Engine): Promise<void> => {
    for (const workflowId of workflowIds) await engine.resumeWorkflow(workflowId)
    for (const escalation of openQuestions(engine)) await answer(engine, escalation, false)
  }

  return {
    deployMissing,
    doSomething,
    answerEverything,
    isDone: () => actionsLeft <= 0,
    testimony: () => ({ workflowIds, acknowledgedEvents, wrongDenials, answeredKeys }),
  }
}

const openQuestions = (engine: Engine): Escalation[] => {
  const listed = engine.listEscalations({ open: true })
  return listed.ok ? listed.value : []
}

const keyOf = ({ details }: Escalation): string => {
  const key = details['idempotencyKey']
  if (typeof key !== 'string') throw new Error('A question about a mutation does not name its key.')
  return key
}
