import { expect, test } from 'vitest'
import type { EnginePorts } from '#engine/runtime/ports.ts'
import { loadSqlJs } from '../support/open-test-store.ts'
import { liveWithSession } from '../support/simulation/session-life.ts'
import { simulate } from '../support/simulation/simulate.ts'

type Sabotage = (ports: EnginePorts) => EnginePorts

/** Changes what transactions can do, the way a careless edit of a transition would. */
const inTransactions = (change: (tx: Tx) => Tx): Sabotage => {
  return (ports) => ({
    ...ports,
    store: { ...ports.store, transaction: (work) => ports.store.transaction((tx) => work(change(tx))) },
  })
}
type Tx = Parameters<Parameters<EnginePorts['store']['transaction']>[0]>[0]

/** Each of these is a mistake somebody could make. The simulator must not let one of them pass. */
const plantedBugs: { bug: string; sabotage: Sabotage; caughtAs: RegExp }[] = [
  {
    bug: 'the call is made before in_flight is on disk',
    sabotage: (ports) => ({ ...ports, durability: { ...ports.durability, barrier: () => Promise.resolve() } }),
    caughtAs: /was made 2 times|the world saw 1, the ledger says 0|is lost/,
  },
  {
    bug: 'recovery does not look into the ledger and simply tries again',
    sabotage: (ports) => ({
      ...ports,
      store: {
        ...ports.store,
        mutations: {
          ...ports.store.mutations,
          ofHandlerRun: (id) => {
            const mutation = ports.store.mutations.ofHandlerRun(id)
            return mutation?.status === 'in_flight' ? undefined : mutation
          },
        },
      },
    }),
    caughtAs: /was made \d times|the world saw \d, the ledger says \d/,
  },
  {
    bug: 'a retry past the boundary forgets to take over the reserved events',
    sabotage: inTransactions((tx) => ({ ...tx, events: { ...tx.events, transferReserved: () => undefined } })),
    caughtAs: /reserved/,
  },
  {
    bug: 'a failed attempt keeps its reservations before the boundary',
    sabotage: inTransactions((tx) => ({ ...tx, events: { ...tx.events, releaseReserved: () => [] } })),
    caughtAs: /reserved/,
  },
  {
    bug: 'the state of a producer is saved in another transaction than its events',
    sabotage: inTransactions((tx) => ({
      ...tx,
      events: {
        ...tx.events,
        publish: (event) => (event.messageId === 'item-0' ? 'ignored' : tx.events.publish(event)),
      },
    })),
    caughtAs: /is lost/,
  },
]

const inEveryWay = plantedBugs.flatMap((planted) => [
  { ...planted, runsAhead: false, how: 'each transition is a commit' },
  { ...planted, runsAhead: true, how: 'several are one' },
])

test.each(inEveryWay)(
  'the simulator catches it when $bug, and $how',
  async ({ sabotage, caughtAs, runsAhead }) => {
    const sqlJs = await loadSqlJs()
    for (let seed = 1; seed <= 400; seed += 1) {
      const { problems } = await simulate({ seed, sqlJs, sabotage, runsAhead })
      if (problems.some((problem) => caughtAs.test(problem))) return
      if (problems.length > 0) expect(problems.join('\n')).toMatch(caughtAs)
    }
    expect.fail('400 simulations with the planted bug, and nobody noticed')
  },
  120_000,
)

const sessionBugs: typeof plantedBugs = [
  {
    bug: 'an agent that completed is not counted',
    sabotage: inTransactions((tx) => ({
      ...tx,
      sessions: {
        ...tx.sessions,
        update: (id, { completedAgents, ...patch }) => {
          tx.sessions.update(id, completedAgents === undefined ? patch : {})
        },
      },
    })),
    caughtAs: /counts \d agents/,
  },
  {
    bug: 'agents do not wait for what they depend on',
    sabotage: inTransactions((tx) => ({
      ...tx,
      sessionAgents: {
        ...tx.sessionAgents,
        planOf: (id) => tx.sessionAgents.planOf(id).map((agent) => ({ ...agent, dependencies: [] })),
      },
    })),
    caughtAs: /before what it needs|which it depends on/,
  },
  {
    bug: 'pausing a session forgets the workflows of its agents',
    sabotage: inTransactions((tx) => ({
      ...tx,
      workflows: {
        ...tx.workflows,
        setStatus: (id, status, now) => {
          if (status !== 'paused') tx.workflows.setStatus(id, status, now)
        },
      },
    })),
    caughtAs: /but its workflow|was paused and agent_completed/,
  },
]

test.each(sessionBugs)(
  'the simulator of sessions notices when $bug',
  async ({ sabotage, caughtAs }) => {
    const sqlJs = await loadSqlJs()
    const problems: string[] = []
    for (let seed = 1; seed <= 60 && !problems.some((problem) => caughtAs.test(problem)); seed += 1) {
      const life = await liveWithSession({ seed, sqlJs, sabotage }).catch((thrown: unknown) => ({
        problems: [String(thrown)],
      }))
      problems.push(...life.problems)
    }
    expect(problems.join('\n')).toMatch(caughtAs)
  },
  60_000,
)
