import { failure, type FailureType } from '#engine/model/errors.ts'
import type { Escalation, EscalationAction } from '#engine/model/escalation.ts'
import type { Json } from '#engine/model/json.ts'
import { ok, type Result } from '#engine/model/result.ts'
import type { CrashPoint } from '#engine/ports/crash-point.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import type { Store, StoreReads } from '#engine/ports/store.ts'
import type { ReconcileOutcome, ToolMethod, ToolOutcome, Tools } from '#engine/ports/tools.ts'
import { createEngine, type Engine } from '#engine/runtime/engine.ts'
import type { EngineOptions } from '#engine/runtime/ports.ts'
import { createMonotonicIds } from '#worker/monotonic-ids.ts'
import { compileScript } from '#worker/sandbox/compile.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { type AheadSandbox, answeringAhead } from './ahead-sandbox.ts'
import { createHandClock } from './hand-clock.ts'
import { openTestStore } from './open-test-store.ts'
import { loadQuickjsWasm } from './quickjs-wasm.ts'
import { createSeededRandom } from './seeded-random.ts'
import { upkeepPorts } from './upkeep-ports.ts'

let sandbox: Promise<Sandbox> | undefined

/** The real QuickJS, one for all tests of a file. */
const testSandbox = (): Promise<Sandbox> =>
  (sandbox ??= loadQuickjsWasm().then((wasm) => createSandbox({ wasm, compile: compileScript })))

export interface ToolCallSeen {
  method: string
  params: Json
  key: string | null
}

/** `throw at once` throws before there is a promise: a tool that was never written as an async function. */
type Answer = ToolOutcome | Promise<ToolOutcome> | 'never' | 'throw' | 'throw at once'

/** The tool `box`: `get` reads, `send` mutates, and the test says how each call ends. */
export interface Box {
  tools: Tools
  calls: ToolCallSeen[]
  /** How the next calls end, in order; after them every call succeeds. */
  answers: Answer[]
  /** What looking afterwards finds, in order, then nothing; null when `send` cannot be looked up at all. */
  checks: (ReconcileOutcome | 'throw' | 'throw at once')[] | null
}

/** An answer that the test gives when it wants to. */
export const heldAnswer = (): { answer: Promise<ToolOutcome>; give(outcome?: ToolOutcome): void } => {
  let give: (outcome: ToolOutcome) => void = () => undefined
  const answer = new Promise<ToolOutcome>((resolve) => (give = resolve))
  return {
    answer,
    give: (outcome = answered()) => {
      give(outcome)
    },
  }
}

export const answered = (value: Json = 'done'): ToolOutcome => ({ kind: 'ok', value })
export const failed = (
  type: FailureType,
  certainty: 'definite' | 'uncertain' = 'definite',
  retryAfterMs = 0,
): ToolOutcome => ({
  kind: 'failed',
  certainty,
  failure: failure(type, `The box said ${type}.`, {
    ...(retryAfterMs > 0 ? { retryAfterMs } : {}),
    ...(type === 'permission' ? { neededPermissions: ['box:more'] } : {}),
  }),
})

const createBox = (trail: string[]): Box => {
  const box: Omit<Box, 'tools'> = { calls: [], answers: [], checks: null }
  const method = (name: string, kind: 'read' | 'mutation'): ToolMethod => ({
    namespace: 'box',
    method: name,
    kind,
    isCharged: kind === 'read',
    title: `Box: ${name}`,
    parse: (args): Result<Json, string> =>
      args[0] === 'bad' ? { ok: false, error: 'the first argument must not be "bad".' } : ok(args[0] ?? null),
    permissionsFor: (params) => (params === 'secret' ? ['box:secret'] : []),
    whereToCheck: () => 'Open the box.',
    call: (params, { idempotencyKey }) => {
      box.calls.push({ method: name, params, key: idempotencyKey })
      trail.push(`box.${name}`)
      const answer = box.answers.shift() ?? { kind: 'ok', value: { echo: params }, cost: 5 }
      if (answer === 'throw at once') throw new Error('The lid fell off.')
      if (answer === 'throw') return Promise.reject(new Error('The lid fell off.'))
      return answer === 'never' ? new Promise<ToolOutcome>(() => undefined) : Promise.resolve(answer)
    },
  })
  const reconcile = (): Promise<ReconcileOutcome> => {
    trail.push('box.check')
    const found = box.checks?.shift() ?? { kind: 'unknown', message: 'The box is shut.' }
    if (found === 'throw at once') throw new Error('The lamp fell down.')
    return found === 'throw' ? Promise.reject(new Error('The lamp fell down.')) : Promise.resolve(found)
  }
  const methods = (): ToolMethod[] => [
    method('get', 'read'),
    { ...method('send', 'mutation'), ...(box.checks === null ? {} : { reconcile }) },
  ]
  return Object.assign(box, {
    tools: {
      find: (namespace: string, name: string) =>
        methods().find((one) => one.namespace === namespace && one.method === name),
      list: methods,
      covers: (granted: string, needed: string) => granted === needed,
    },
  })
}

export interface TestEngine {
  engine: Engine
  /** What the engine has written, as the views read it. */
  store: StoreReads
  box: Box
  clock: ReturnType<typeof createHandClock>
  /** Rows of the real database. */
  rows(sql: string, ...params: (string | number)[]): Record<string, unknown>[]
  /** The first column of the first row. */
  value(sql: string, ...params: (string | number)[]): unknown
  /** Writes behind the back of the engine: what there is no command for, or what only a mistake could write. */
  change(sql: string, ...params: (string | number)[]): void
  /** Every row of these tables, or of all, as text: equal before and after means that nothing was written. */
  dump(...tables: string[]): string
  /** How often something was committed. */
  commits(): number
  /** What happened outside of the engine, in order: `barrier`, `durable`, `box.send`, … */
  trail: string[]
  /** From here on another tab owns the data: no barrier is ever passed again. */
  failBarriers(): void
  /** The disk takes nothing more, and barriers wait, until the returned function makes room. */
  fillStorage(): () => void
  /** The next barrier resolves only when the returned function is called. */
  holdBarrier(): () => void
  deploy(source: string): Promise<string>
  /** Publishes one event by hand. */
  publish(workflowId: string, messageId?: string, payload?: Json): Promise<void>
  /** The escalations that are open. */
  questions(): Escalation[]
  /** Settles the one open escalation. */
  resolve(action: EscalationAction, value?: Json): Promise<void>
  /** Pulls the plug: a new engine over what was on disk at that moment. */
  crash(): Promise<void>
  /** The next time this point is reached, the tab dies there. */
  dieAt(point: CrashPoint): void
  /** The plug was pulled and nobody has called `crash` yet. */
  isDead(): boolean
  /** Whenever a crash point is reached, this is told. */
  onReach: ((point: CrashPoint) => void) | null
  /** Until nothing can run without time moving or somebody acting. */
  settle(): Promise<void>
  /** Until `isSo`, while something (a tool that does not answer) keeps the engine from settling. */
  until(isSo: () => boolean): Promise<void>
}

let worlds = 0

class PlugPulled extends Error {}

/** The real engine over real sql.js and real QuickJS; time stands still until the test moves it. */
export const openTestEngine = async (
  options: Partial<EngineOptions> = {},
  /** Others than the box, which then nobody reaches. */
  tools?: Tools,
  /** A sandbox that runs ahead, instead of QuickJS; and a mistake of the store. */
  { ahead, planted }: { ahead?: AheadSandbox; planted?: (store: Store) => Store } = {},
): Promise<TestEngine> => {
  const clock = createHandClock()
  const trail: string[] = []
  const box = createBox(trail)
  let held: Promise<void> | null = null
  // The sandbox is shared and keeps code by script id, so two worlds must never give out the same one.
  const random = createSeededRandom((worlds += 1))
  let isStorageFull = false
  let deadly: CrashPoint | null = null
  let isDead = false
  let opened = await openTestStore()
  let generation = 0
  let commits = 0
  const reached = tools ?? box.tools

  const boot = async (): Promise<Engine> => {
    const mine = (generation += 1)
    const store = planted?.(opened.store) ?? opened.store
    opened.database.onCommit(() => (commits += 1))
    const isAlive = (): boolean => mine === generation
    const engine = createEngine(
      {
        store: {
          ...store,
          transaction: (work) => {
            if (!isAlive()) throw new PlugPulled()
            return store.transaction(work)
          },
          together: (work) => {
            if (!isAlive()) throw new PlugPulled()
            return store.together(work)
          },
        },
        clock: {
          ...clock,
          wakeAt: (at, wake) =>
            clock.wakeAt(at, () => {
              if (isAlive()) wake()
            }),
        },
        ids: createMonotonicIds(clock, () => random.next(), null),
        sandbox: ahead ?? (await testSandbox()),
        tools: ahead === undefined ? reached : answeringAhead(reached, ahead),
        durability: {
          barrier: async () => {
            trail.push('barrier')
            await held
            trail.push('durable')
          },
          flushSoon: () => trail.push('flush'),
          isAccepting: () => isAlive() && !isStorageFull,
        },
        crash: {
          reach: (point) => {
            if (!isAlive()) throw new PlugPulled()
            world.onReach?.(point)
            if (point !== deadly) return
            deadly = null
            isDead = true
            generation += 1
            throw new PlugPulled()
          },
        },
        ...upkeepPorts(opened.database),
      },
      options,
    )
    return engine
  }

  const world: TestEngine = {
    engine: await boot(),
    get store() {
      return opened.store
    },
    box,
    clock,
    rows: (sql, ...params) => opened.database.all(sql, params),
    value: (sql, ...params) => Object.values(opened.database.get(sql, params) ?? {})[0],
    change: (sql, ...params) => {
      opened.database.transaction(() => opened.database.run(sql, params))
    },
    dump: (...tables) =>
      opened.database
        .all(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
        .filter(({ name }) => tables.length === 0 || tables.includes(String(name)))
        .map(({ name }) => `${String(name)}\n${JSON.stringify(opened.database.all(`SELECT * FROM ${String(name)}`))}`)
        .join('\n'),
    commits: () => commits,
    trail,
    failBarriers: () => {
      held = Promise.reject(new Error('Fenced.'))
      held.catch(() => undefined)
    },
    fillStorage: () => {
      const release = world.holdBarrier()
      isStorageFull = true
      return () => {
        isStorageFull = false
        release()
        world.engine.look()
      }
    },
    holdBarrier: () => {
      let release = (): void => undefined
      held = new Promise((resolve) => (release = resolve))
      return () => {
        held = null
        release()
      }
    },
    publish: async (workflowId, messageId = 'm1', payload = { n: 1 }) => {
      const published = await world.engine.publishEvent(workflowId, 'item', { messageId, payload })
      if (!published.ok) throw new Error(published.error.message)
    },
    questions: () => {
      const listed = world.engine.listEscalations({ open: true })
      if (!listed.ok) throw new Error(listed.error.message)
      return listed.value
    },
    resolve: async (action, value) => {
      const [open, ...others] = world.questions()
      if (open === undefined || others.length > 0) throw new Error('There is not exactly one open escalation.')
      const resolved = await world.engine.resolveEscalation(open.id, action, value)
      if (!resolved.ok) throw new Error(resolved.error.message)
    },
    deploy: async (source) => {
      const deployed = await world.engine.deployWorkflow({ source })
      if (!deployed.ok) throw new Error(`${deployed.error.message} ${JSON.stringify(deployed.error.details)}`)
      return deployed.value.workflowId
    },
    crash: async () => {
      generation += 1
      isDead = false
      clock.advance(1)
      opened = await openTestStore(opened.exportBytes())
      world.engine = await boot()
      world.engine.start()
    },
    dieAt: (point) => {
      deadly = point
    },
    isDead: () => isDead,
    onReach: null,
    settle: () => world.engine.idle(),
    until: async (isSo) => {
      for (let turn = 0; turn < 10_000; turn += 1) {
        if (isSo()) return
        await new Promise((resolve) => setImmediate(resolve))
      }
      throw new Error('Waited for something that never came.')
    },
  }
  world.engine.start()
  return world
}
