import type { SqlJsStatic } from 'sql.js'
import { createAheadSandbox } from '../ahead-sandbox.ts'
import { createHandClock } from '../hand-clock.ts'
import { createInProcessSandbox } from '../in-process-sandbox.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { createFileDisk, createSavepointDisk } from './disk.ts'
import { judge, type Testimony } from './judge.ts'
import { createLife, type Opportunity, TabDied } from './mortal-ports.ts'
import { calm, createOutsideWorld } from './outside-world.ts'
import { createPerson } from './person.ts'
import { drawScenario } from './scenario.ts'
import { openTab, type Tab, type TabParts } from './tab.ts'

export interface SimulationOptions {
  seed: number
  sqlJs: SqlJsStatic
  /** The opportunity at which the first life ends; later lives end at random ones. Undefined: random as well. */
  firstDeathAt?: number
  maxDeaths?: number
  /** Fewer make shorter lives: more different ones in the same time. */
  maxActions?: number
  /** Phases are run ahead, and several transitions are one commit. */
  runsAhead?: boolean
  sabotage?: TabParts['sabotage']
}

export interface SimulationResult {
  seed: number
  lives: number
  deaths: Opportunity[]
  /** Opportunities that the first life had: past that number it cannot be killed. */
  firstLifeOpportunities: number
  /** Phases that were run ahead and taken, over all lives. */
  takenAhead: number
  problems: string[]
}

const plainSandbox = createInProcessSandbox()

/** Every so often on a file that is really copied and opened: nobody shall say that savepoints are something else. */
const isOnFile = (seed: number): boolean => seed % 10 === 0

/** Lets a random workflow live in a tab that dies again and again, then lets it settle, and asks the judge. */
export const simulate = async ({
  seed,
  sqlJs,
  firstDeathAt,
  maxDeaths = 4,
  maxActions = Infinity,
  runsAhead = false,
  sabotage,
}: SimulationOptions): Promise<SimulationResult> => {
  const random = createSeededRandom(seed)
  const scenario = drawScenario(random.fork(), maxActions)
  const clock = createHandClock()
  const world = createOutsideWorld(random.fork(), scenario.weather, scenario.canReconcile)
  const disk = isOnFile(seed) ? createFileDisk(sqlJs) : createSavepointDisk(sqlJs)
  const result: SimulationResult = {
    seed,
    lives: 0,
    deaths: [],
    firstLifeOpportunities: 0,
    takenAhead: 0,
    problems: [],
  }
  const person = createPerson(random.fork(), scenario, world, clock)
  let isCalm = false
  const lifeRandom = random.fork()

  const boot = (diesAt: number): Tab => {
    result.lives += 1
    // What was run ahead dies with its tab.
    const sandbox = runsAhead ? createAheadSandbox(plainSandbox, () => (result.takenAhead += 1)) : plainSandbox
    return openTab({
      disk,
      clock,
      world,
      sandbox,
      life: createLife(diesAt),
      random: lifeRandom,
      isCalm: () => isCalm,
      ...(sabotage === undefined ? {} : { sabotage }),
    })
  }

  /** Runs `work` in one life; true when it came to its end alive. */
  const liveThrough = async (diesAt: number, work: (tab: Tab) => Promise<void>): Promise<boolean> => {
    const tab = boot(diesAt)
    try {
      const { violations } = tab.engine.start()
      result.problems.push(...violations.map((violation) => `after restart: ${violation}`))
      await work(tab)
      const { fatal } = tab.engine.info()
      if (fatal !== null && !(fatal instanceof TabDied))
        result.problems.push(`the engine gave up: ${fatal instanceof Error ? fatal.message : 'for no reason'}`)
    } catch (thrown) {
      if (!(thrown instanceof TabDied)) throw thrown
    } finally {
      if (result.lives === 1) result.firstLifeOpportunities = tab.life.opportunities()
      const diedAt = tab.life.diedAt()
      if (diedAt !== null) result.deaths.push(diedAt)
      if (diedAt === null && result.problems.length === 0 && isCalm) {
        const testimony: Testimony = { ...person.testimony(), world, scenario }
        result.problems.push(...judge(tab, testimony))
      }
      tab.close()
    }
    return result.deaths.length === 0 || tab.life.diedAt() === null
  }

  for (let i = 0; i < scenario.initialItems; i += 1) world.addItem()
  for (let deaths = 0; deaths < maxDeaths && result.problems.length === 0; deaths += 1) {
    const diesAt = deaths === 0 && firstDeathAt !== undefined ? firstDeathAt : 1 + lifeRandom.below(120)
    const survived = await liveThrough(diesAt, (tab) => act(tab, person, clock))
    if (survived || person.isDone()) break
  }
  // The storm is over: nothing fails any more, and a person is there who answers every question.
  isCalm = true
  world.setWeather(calm)
  if (result.problems.length === 0) await liveThrough(Infinity, (tab) => settle(tab, person, clock))
  return result
}

/** All of the engine's work here is microtasks: when the macrotask comes, it has nothing left to do until time moves. */
const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

type Person = ReturnType<typeof createPerson>
type HandClock = ReturnType<typeof createHandClock>

const act = async (tab: Tab, person: Person, clock: HandClock): Promise<void> => {
  const { engine } = tab
  await person.deployMissing(engine)
  while (!person.isDone()) {
    await drain()
    assertAlive(tab)
    await person.doSomething(tab)
    await drain()
    assertAlive(tab)
    const { nextWakeAt } = engine.info()
    if (nextWakeAt !== null) clock.advance(Math.max(1, nextWakeAt - clock.now()))
    else clock.advance(1000)
  }
  await drain()
}

const assertAlive = ({ engine, life }: Tab): void => {
  if (life.isDead()) throw new TabDied()
  const { state, fatal } = engine.info()
  if (state === 'failed') throw fatal instanceof Error ? fatal : new Error(String(fatal))
}

/** Quiet rounds in a row, each longer than any wait of a script, so that what was put off has come up too. */
const quietRounds = 2
const roundMs = 75_000

const settle = async (tab: Tab, person: Person, clock: HandClock): Promise<void> => {
  const { engine } = tab
  await person.deployMissing(engine)
  let quiet = 0
  for (let round = 0; round < 200 && quiet < quietRounds; round += 1) {
    await drain()
    await person.answerEverything(engine)
    await drain()
    assertAlive(tab)
    quiet = hasWorkLeft(tab) ? 0 : quiet + 1
    clock.advance(roundMs)
  }
  await drain()
}

const hasWorkLeft = ({ database }: Tab): boolean =>
  database.get(
    `SELECT 1 FROM events WHERE status IN ('pending', 'reserved') AND topic_id IN (SELECT id FROM topics WHERE name = 'items')
     UNION ALL SELECT 1 FROM handler_runs WHERE retry_at IS NOT NULL
     UNION ALL SELECT 1 FROM escalations WHERE resolved_at IS NULL`,
  ) !== undefined
