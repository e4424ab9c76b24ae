import type { SqlJsStatic } from 'sql.js'
import { openDatabase } from '#worker/sqlite/open-database.ts'
import { createHandClock } from '../hand-clock.ts'
import { createInProcessSandbox } from '../in-process-sandbox.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { judge, type Testimony } from './judge.ts'
import { createLife, type Opportunity, TabDied } from './mortal-ports.ts'
import { calm, createOutsideWorld } from './outside-world.ts'
import { createPerson } from './person.ts'
import { drawScenario, scriptOf } from './scenario.ts'
import { openTab, type Disk, type Tab, type TabParts } from './tab.ts'

export interface SimulationOptions {
  seed: number
  sqlJs: SqlJsStatic
  /** The opportunity at which the first life ends; later lives end at random ones. Undefined: random as well. */
  firstDeathAt?: number
  maxDeaths?: number
  sabotage?: TabParts['sabotage']
}

export interface SimulationResult {
  seed: number
  lives: number
  deaths: Opportunity[]
  /** Opportunities that the first life had: past that number it cannot be killed. */
  firstLifeOpportunities: number
  problems: string[]
}

const sandbox = createInProcessSandbox()

let emptyBytes: Uint8Array | undefined

/** The tables are made once; every simulation starts from a copy. */
const emptyFile = (sqlJs: SqlJsStatic): Uint8Array => {
  if (emptyBytes === undefined) {
    const opened = openDatabase(sqlJs)
    if (!opened.ok) throw new Error(opened.error.message)
    emptyBytes = opened.value.exportBytes()
    opened.value.close()
  }
  return emptyBytes
}

/** Lets a random workflow live in a tab that dies again and again, then lets it settle, and asks the judge. */
export const simulate = async ({
  seed,
  sqlJs,
  firstDeathAt,
  maxDeaths = 4,
  sabotage,
}: SimulationOptions): Promise<SimulationResult> => {
  const random = createSeededRandom(seed)
  const scenario = drawScenario(random.fork())
  const clock = createHandClock()
  const world = createOutsideWorld(random.fork(), scenario.weather, scenario.canReconcile)
  const disk: Disk = { bytes: emptyFile(sqlJs) }
  const result: SimulationResult = { seed, lives: 0, deaths: [], firstLifeOpportunities: 0, problems: [] }
  const person = createPerson(random.fork(), scenario, world, clock)
  let isCalm = false
  const lifeRandom = random.fork()

  const boot = (diesAt: number): Tab => {
    result.lives += 1
    return openTab({
      sqlJs,
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
  const scripts = scenario.shapes.map((shape, index) => scriptOf(`sim-${String(index)}`, shape))
  for (let deaths = 0; deaths < maxDeaths && result.problems.length === 0; deaths += 1) {
    const diesAt = deaths === 0 && firstDeathAt !== undefined ? firstDeathAt : 1 + lifeRandom.below(120)
    const survived = await liveThrough(diesAt, (tab) => act(tab, person, scripts, clock))
    if (survived || person.isDone()) break
  }
  // The storm is over: nothing fails any more, and a person is there who answers every question.
  isCalm = true
  world.setWeather(calm)
  if (result.problems.length === 0) await liveThrough(Infinity, (tab) => settle(tab, person, scripts, clock))
  return result
}

/** All of the engine's work here is microtasks: when the macrotask comes, it has nothing left to do until time moves. */
const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

type Person = ReturnType<typeof createPerson>
type HandClock = ReturnType<typeof createHandClock>

const act = async (tab: Tab, person: Person, scripts: string[], clock: HandClock): Promise<void> => {
  const { engine } = tab
  await person.deployMissing(engine, scripts)
  while (!person.isDone()) {
    await drain()
    assertAlive(tab)
    await person.doSomething(engine)
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

/** A few quiet rounds in a row: longer than any wait of a script, so that what was put off has come up too. */
const quietRounds = 4

const settle = async (tab: Tab, person: Person, scripts: string[], clock: HandClock): Promise<void> => {
  const { engine } = tab
  await person.deployMissing(engine, scripts)
  let quiet = 0
  for (let round = 0; round < 200 && quiet < quietRounds; round += 1) {
    await drain()
    await person.answerEverything(engine)
    await drain()
    assertAlive(tab)
    quiet = hasWorkLeft(tab) ? 0 : quiet + 1
    clock.advance(35_000)
  }
  await drain()
}

const hasWorkLeft = ({ database }: Tab): boolean =>
  database.get(
    `SELECT 1 FROM events WHERE status IN ('pending', 'reserved') AND topic_id IN (SELECT id FROM topics WHERE name = 'items')
     UNION ALL SELECT 1 FROM handler_runs WHERE retry_at IS NOT NULL
     UNION ALL SELECT 1 FROM escalations WHERE resolved_at IS NULL`,
  ) !== undefined
