import { failure, type FailureType } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import { ok } from '#engine/model/result.ts'
import type { ReconcileOutcome, ToolCall, ToolMethod, ToolOutcome, Tools } from '#engine/ports/tools.ts'
import type { SeededRandom } from '../seeded-random.ts'

/** How likely each trouble is, 0 to 1. Calm weather lets everything through. */
export interface Weather {
  readFails: number
  mutationFailsDefinitely: number
  /** Answered with "don't know", half of the time after it was applied. */
  mutationUncertain: number
  mutationNeverAnswers: number
  mutationThrows: number
  /** A look at whether it happened finds out nothing. */
  checkFails: number
}

export const calm: Weather = {
  readFails: 0,
  mutationFailsDefinitely: 0,
  mutationUncertain: 0,
  mutationNeverAnswers: 0,
  mutationThrows: 0,
  checkFails: 0,
}

/**
 * What is outside the tab, and therefore survives every crash of it: the list that producers read, and the record of every
 * mutation that really happened. The truth against which the engine's ledger is checked.
 */
export interface OutsideWorld {
  tools: Tools
  /** How often the world was really changed under each idempotency key. */
  appliedByKey: Map<string, number>
  /** Which workflow made the calls under each key. */
  workflowOfKey: Map<string, string>
  setWeather(weather: Weather): void
  addItem(): void
  itemCount(): number
}

const readFailures: readonly FailureType[] = ['network', 'network', 'network', 'auth', 'permission', 'internal']
const definiteFailures: readonly FailureType[] = ['network', 'auth', 'permission', 'logic']

export const createOutsideWorld = (random: SeededRandom, initial: Weather, canReconcile: boolean): OutsideWorld => {
  let weather = initial
  let items = 0
  const appliedByKey = new Map<string, number>()
  const workflowOfKey = new Map<string, string>()

  const apply = (key: string): void => {
    appliedByKey.set(key, (appliedByKey.get(key) ?? 0) + 1)
  }

  const fails = (type: FailureType, certainty: 'definite' | 'uncertain'): ToolOutcome => ({
    kind: 'failed',
    certainty,
    failure: failure(type, `The world said no (${type}).`, {
      ...(type === 'permission' ? { neededPermissions: ['world'] } : {}),
      ...(random.chance(0.2) ? { retryAfterMs: 20_000 } : {}),
    }),
  })

  const read = (): ToolOutcome => {
    if (!random.chance(weather.readFails)) return { kind: 'ok', value: items, cost: 3 }
    const type = random.pick(readFailures)
    if (type === 'internal') throw new Error('A tool broke.')
    return fails(type, 'definite')
  }

  const mutate = (key: string): ToolOutcome | 'never' => {
    if (random.chance(weather.mutationFailsDefinitely)) return fails(random.pick(definiteFailures), 'definite')
    const didHappen = random.chance(0.5)
    if (random.chance(weather.mutationNeverAnswers)) {
      if (didHappen) apply(key)
      return 'never'
    }
    if (random.chance(weather.mutationThrows)) {
      if (didHappen) apply(key)
      throw new Error('The connection broke.')
    }
    if (random.chance(weather.mutationUncertain)) {
      if (didHappen) apply(key)
      return fails('network', 'uncertain')
    }
    apply(key)
    return { kind: 'ok', value: { key }, cost: 7 }
  }

  /** The truth, or now and then no answer. */
  const look = (key: string): ReconcileOutcome => {
    if (random.chance(weather.checkFails)) return { kind: 'unknown', message: 'The world is foggy.' }
    return (appliedByKey.get(key) ?? 0) > 0 ? { kind: 'applied', value: { key } } : { kind: 'not_applied' }
  }

  const method = (name: string, kind: 'read' | 'mutation', call: ToolMethod['call']): ToolMethod => ({
    namespace: 'world',
    method: name,
    kind,
    title: `${name} the world`,
    parse: (args) => (args.length > 1 ? { ok: false, error: 'takes one argument' } : ok(args[0] ?? null)),
    permissionsFor: () => ['world'],
    whereToCheck: () => 'Look outside.',
    call,
  })

  const methods: readonly ToolMethod[] = [
    // eslint-disable-next-line @typescript-eslint/require-await -- a tool that throws must reject
    method('count', 'read', async () => read()),

    method('write', 'mutation', async (_params: Json, { idempotencyKey, workflowId }) => {
      workflowOfKey.set(idempotencyKey ?? 'none', workflowId)
      const outcome = mutate(idempotencyKey ?? 'none')
      return outcome === 'never' ? new Promise<ToolOutcome>(() => undefined) : outcome
    }),
  ].map((one) =>
    canReconcile && one.kind === 'mutation'
      ? {
          ...one,
          reconcile: (_params: Json, { idempotencyKey }: ToolCall) => Promise.resolve(look(idempotencyKey ?? 'none')),
        }
      : one,
  )
  return {
    tools: {
      find: (namespace, name) => methods.find((one) => one.namespace === namespace && one.method === name),
      list: () => methods,
      covers: (granted, needed) => granted === needed,
    },
    appliedByKey,
    workflowOfKey,
    setWeather: (next) => {
      weather = next
    },
    addItem: () => {
      items += 1
    },
    itemCount: () => items,
  }
}
