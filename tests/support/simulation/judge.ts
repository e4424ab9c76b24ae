import type { OutsideWorld } from './outside-world.ts'
import type { OwnedWorkflow } from './person.ts'
import type { Scenario } from './scenario.ts'
import type { Tab } from './tab.ts'

export interface Testimony {
  workflows: readonly OwnedWorkflow[]
  acknowledgedEvents: readonly { workflowId: string; messageId: string }[]
  wrongDenials: ReadonlyMap<string, number>
  answeredKeys: ReadonlySet<string>
  world: OutsideWorld
  scenario: Scenario
}

/** The promises, checked against the world and not against what the engine says of itself. Empty when all were kept. */
export const judge = (tab: Tab, testimony: Testimony): string[] => [
  ...tab.store.checkInvariants(),
  ...danglingReferences(tab),
  ...undeleted(tab, testimony),
  ...lostEvents(tab, testimony),
  ...repeatedMutations(testimony),
  ...ledgerAgainstWorld(tab, testimony),
  ...unfinishedMutations(tab),
  ...unfinishedWork(tab),
]

const isThere = ({ store }: Tab, workflowId: string): boolean => store.workflows.get(workflowId) !== undefined

export const danglingReferences = ({ database }: Tab): string[] =>
  database.all('PRAGMA foreign_key_check').map((row) => `a row of ${String(row['table'])} names one that is not there`)

const undeleted = (tab: Tab, { workflows }: Testimony): string[] =>
  workflows
    .filter(
      ({ id, deletion }) =>
        (deletion === 'acknowledged' && isThere(tab, id)) || (deletion === 'none' && !isThere(tab, id)),
    )
    .map(({ id, deletion }) =>
      deletion === 'none' ? `workflow ${id} is lost` : `workflow ${id} was deleted and is back`,
    )

const statusOf = ({ database }: Tab, workflowId: string, topic: string, messageId: string): string | undefined => {
  const row = database.get(
    `SELECT e.status FROM events e JOIN topics t ON t.id = e.topic_id
     WHERE t.workflow_id = ? AND t.name = ? AND e.message_id = ?`,
    [workflowId, topic, messageId],
  )
  return row === undefined ? undefined : String(row['status'])
}

/** Every item of the world and every acknowledged event ended: consumed, or skipped by a person. */
const lostEvents = (tab: Tab, { workflows, acknowledgedEvents, world, scenario }: Testimony): string[] => {
  const problems: string[] = []
  const expectEnded = (workflowId: string, topic: string, messageId: string): void => {
    const status = statusOf(tab, workflowId, topic, messageId)
    if (status !== 'consumed' && status !== 'skipped') {
      problems.push(`event ${topic}/${messageId} of ${workflowId} is ${status ?? 'lost'}`)
    }
  }
  workflows.forEach(({ id: workflowId }, index) => {
    if (!isThere(tab, workflowId)) return
    for (let i = 0; i < world.itemCount(); i += 1) {
      expectEnded(workflowId, 'items', `item-${String(i)}`)
      const shape = scenario.shapes[index]
      const wasCarried = statusOf(tab, workflowId, 'items', `item-${String(i)}`) === 'consumed'
      if (
        shape?.hasNext === true &&
        wasCarried &&
        statusOf(tab, workflowId, 'done', `item-${String(i)}`) === undefined
      ) {
        problems.push(`item-${String(i)} of ${workflowId} was consumed but next published nothing`)
      }
    }
  })
  for (const { workflowId, messageId } of acknowledgedEvents) {
    if (isThere(tab, workflowId)) expectEnded(workflowId, 'items', messageId)
  }
  return problems
}

export const repeatedMutations = ({ world, wrongDenials }: Pick<Testimony, 'world' | 'wrongDenials'>): string[] =>
  [...world.appliedByKey]
    .filter(([key, times]) => times > 1 + (wrongDenials.get(key) ?? 0))
    .map(([key, times]) => `mutation ${key} was made ${String(times)} times and nobody had said it had not happened`)

/** Where no person had a say, the ledger says applied exactly where the world was changed. */
export const ledgerAgainstWorld = (
  tab: Tab,
  { world, answeredKeys }: Pick<Testimony, 'world' | 'answeredKeys'>,
): string[] => {
  const { database } = tab
  const isKept = (key: string): boolean => isThere(tab, world.workflowOfKey.get(key) ?? '')
  const applied = database.all(
    `SELECT idempotency_key AS key, count(*) AS times FROM mutations WHERE status = 'applied' GROUP BY idempotency_key`,
  )
  const inLedger = new Map(applied.map((row) => [String(row['key']), Number(row['times'])]))
  const keys = new Set([...world.appliedByKey.keys(), ...inLedger.keys()])
  return [...keys]
    .filter((key) => !answeredKeys.has(key) && isKept(key))
    .filter((key) => (world.appliedByKey.get(key) ?? 0) !== (inLedger.get(key) ?? 0))
    .map(
      (key) =>
        `mutation ${key}: the world saw ${String(world.appliedByKey.get(key) ?? 0)}, the ledger says ${String(inLedger.get(key) ?? 0)}`,
    )
}

/** An applied mutation's chain ends committed, unless a person skipped its events. */
const unfinishedMutations = ({ database }: Tab): string[] =>
  database
    .all(
      `WITH RECURSIVE chain(mutation_id, run_id) AS (
         SELECT id, handler_run_id FROM mutations WHERE status = 'applied'
         UNION ALL SELECT c.mutation_id, h.id FROM chain c JOIN handler_runs h ON h.retry_of = c.run_id)
       SELECT c.mutation_id AS mutation, h.status AS status FROM chain c JOIN handler_runs h ON h.id = c.run_id
       WHERE NOT EXISTS (SELECT 1 FROM handler_runs n WHERE n.retry_of = h.id) AND h.status <> 'committed'
         AND NOT EXISTS (SELECT 1 FROM escalations e WHERE e.handler_run_id = h.id AND e.resolution = 'skip')`,
    )
    .map(
      (row) =>
        `mutation ${String(row['mutation'])} was applied, but its next never committed (${String(row['status'])})`,
    )

const unfinishedWork = ({ database }: Tab): string[] =>
  database
    .all(
      `SELECT 'handler run ' || id || ' of ' || handler_name || ' is still active' AS problem FROM handler_runs WHERE status = 'active'
       UNION ALL SELECT 'handler run ' || id || ' still waits for its retry' FROM handler_runs WHERE retry_at IS NOT NULL
       UNION ALL SELECT 'run ' || id || ' is still open' FROM script_runs WHERE end_timestamp IS NULL
       UNION ALL SELECT 'workflow ' || id || ' is still blocked' FROM workflows WHERE block_run_id IS NOT NULL`,
    )
    .map((row) => String(row['problem']))
