import type { Escalation, EscalationAction } from '#engine/model/escalation.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import type { HandClock } from '../hand-clock.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { TabDied } from './mortal-ports.ts'
import type { OutsideWorld } from './outside-world.ts'
import { scriptOf, type Scenario } from './scenario.ts'
import type { Tab } from './tab.ts'

export interface OwnedWorkflow {
  id: string
  version: number
  /** `asked` and never answered: it may be gone or not. */
  deletion: 'none' | 'asked' | 'acknowledged'
}

/**
 * The person in front of the tab: deploys, pauses, publishes, answers. Remembers what was acknowledged and what was said, because
 * that is what the engine is held to.
 */
export const createPerson = (random: SeededRandom, scenario: Scenario, world: OutsideWorld, clock: HandClock) => {
  let actionsLeft = scenario.actions
  let published = 0
  const workflows: OwnedWorkflow[] = []
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

  const sourceOf = (index: number, version: number): string => {
    const shape = scenario.shapes[index]
    if (shape === undefined) throw new Error(`There is no workflow ${String(index)}.`)
    return scriptOf(`sim-${String(index)}`, shape, version)
  }

  const deployMissing = async (engine: Engine): Promise<void> => {
    while (workflows.length < scenario.shapes.length) {
      const deployed = await engine.deployWorkflow({ source: sourceOf(workflows.length, 1) })
      if (!deployed.ok && deployed.error.code === 'read_only') throw new TabDied()
      if (!deployed.ok) throw new Error(deployed.error.message + JSON.stringify(deployed.error.details))
      workflows.push({ id: deployed.value.workflowId, version: 1, deletion: 'none' })
    }
  }

  const redeploy = async (engine: Engine, index: number, workflow: OwnedWorkflow): Promise<void> => {
    workflow.version += 1
    await engine.deployWorkflow({ workflowId: workflow.id, source: sourceOf(index, workflow.version) })
  }

  /** Only one of two: with none left there would be nothing to judge. */
  const remove = async (engine: Engine, workflow: OwnedWorkflow): Promise<void> => {
    if (workflows.length < 2 || workflows.some(({ deletion }) => deletion !== 'none')) return
    workflow.deletion = 'asked'
    const deleted = await engine.deleteWorkflow(workflow.id)
    if (deleted.ok) workflow.deletion = 'acknowledged'
  }

  const cancel = ({ engine, store }: Tab, workflowId: string): Promise<void> => {
    const attempt = store.handlerRuns.activeOf(workflowId) ?? store.handlerRuns.awaitingRetry(workflowId)[0]
    if (attempt !== undefined) {
      engine.internals.transitions.cancelAttempt(attempt.id, 'Cancelled by the person.')
      engine.look()
    }
    return Promise.resolve()
  }

  const doSomething = async (tab: Tab): Promise<void> => {
    const { engine } = tab
    actionsLeft -= 1
    const index = random.below(workflows.length)
    const workflow = workflows[index]
    if (workflow === undefined) return
    const workflowId = workflow.id
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
      () => redeploy(engine, index, workflow),
      () => cancel(tab, workflowId),
      () => (random.chance(0.3) ? remove(engine, workflow) : Promise.resolve()),
      () => {
        clock.advance(random.below(120_000))
        return Promise.resolve()
      },
    ]
    await random.pick(deeds)()
  }

  const answerEverything = async (engine: Engine): Promise<void> => {
    for (const { id } of workflows) await engine.resumeWorkflow(id)
    for (const escalation of openQuestions(engine)) await answer(engine, escalation, false)
  }

  return {
    deployMissing,
    doSomething,
    answerEverything,
    isDone: () => actionsLeft <= 0,
    testimony: () => ({ workflows, acknowledgedEvents, wrongDenials, answeredKeys }),
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
