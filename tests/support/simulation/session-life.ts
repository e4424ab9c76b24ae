import type { SqlJsStatic } from 'sql.js'
import type { Escalation } from '#engine/model/escalation.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import { createHandClock } from '../hand-clock.ts'
import { createAheadSandbox } from '../ahead-sandbox.ts'
import { createInProcessSandbox } from '../in-process-sandbox.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { createSavepointDisk } from './disk.ts'
import { danglingReferences, ledgerAgainstWorld, repeatedMutations } from './judge.ts'
import { createLife, type Opportunity, TabDied } from './mortal-ports.ts'
import { calm, createOutsideWorld } from './outside-world.ts'
import { judgeEnd, judgeStory } from './session-judge.ts'
import { drawLateAgent, drawSession } from './session-scenario.ts'
import { openTab, type Tab } from './tab.ts'

export interface SessionLife {
  problems: string[]
  deaths: Opportunity[]
  /** How the session ended. */
  end: string
  lives: number
  firstLifeOpportunities: number
}

const plainSandbox = createInProcessSandbox()
const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export interface SessionLifeOptions {
  seed: number
  sqlJs: SqlJsStatic
  firstDeathAt?: number
  maxDeaths?: number
  sabotage?: Parameters<typeof openTab>[0]['sabotage']
}

/** One random session in tabs that die again and again, with a person who pauses, resumes, cancels, retries and adds agents. */
export const liveWithSession = async (options: SessionLifeOptions): Promise<SessionLife> => {
  const { seed, sqlJs, firstDeathAt, maxDeaths = 3, sabotage } = options
  const random = createSeededRandom(seed)
  const request = drawSession(random.fork())
  const clock = createHandClock()
  const some = (most: number): number => (random.chance(0.5) ? 0 : random.next() * most)
  const weather = { ...calm, readFails: some(0.3), mutationFailsDefinitely: some(0.3), mutationUncertain: some(0.4) }
  const world = createOutsideWorld(random.fork(), { ...weather, mutationNeverAnswers: some(0.2) }, random.chance(0.4))
  const disk = createSavepointDisk(sqlJs)
  const life: SessionLife = { problems: [], deaths: [], end: '', lives: 0, firstLifeOpportunities: 0 }
  const lifeRandom = random.fork()
  const answeredKeys = new Set<string>()
  let actionsLeft = 4 + random.below(10)
  let isCalm = false
  let late = 0

  const sessionOf = ({ store }: Tab): string | undefined => store.sessions.list()[0]?.id

  const begin = async (tab: Tab): Promise<string> => {
    const known = sessionOf(tab)
    if (known === undefined) {
      const created = await tab.engine.createSession(request)
      if (!created.ok && created.error.code !== 'read_only') throw new Error(JSON.stringify(created.error))
    }
    const id = sessionOf(tab)
    if (id === undefined) throw new TabDied()
    if (tab.store.sessions.get(id)?.state === 'created') await tab.engine.startSession(id)
    return id
  }

  const answer = async (engine: Engine, escalation: Escalation): Promise<void> => {
    if (escalation.kind !== 'indeterminate_mutation') {
      await engine.resolveEscalation(escalation.id, random.pick(escalation.actions))
      return
    }
    const { idempotencyKey } = escalation.details
    const key = typeof idempotencyKey === 'string' ? idempotencyKey : ''
    answeredKeys.add(key)
    const happened = (world.appliedByKey.get(key) ?? 0) > 0
    await engine.resolveEscalation(escalation.id, happened ? 'happened' : 'did_not_happen')
  }

  const questions = (engine: Engine): Escalation[] => {
    const listed = engine.listEscalations({ open: true })
    return listed.ok ? listed.value : []
  }

  const doSomething = async (tab: Tab, id: string): Promise<void> => {
    const { engine, store } = tab
    actionsLeft -= 1
    const [open] = questions(engine)
    if (open !== undefined && random.chance(0.5)) return answer(engine, open)
    const failed = store.sessionAgents.planOf(id).find(({ state }) => state === 'failed')
    const deeds: (() => Promise<unknown>)[] = [
      () => engine.pauseSession(id),
      () => engine.resumeSession(id),
      () => engine.resumeSession(id),
      () => (random.chance(0.3) ? engine.cancelSession(id) : Promise.resolve()),
      () => (failed === undefined ? Promise.resolve() : engine.retryAgent(id, failed.id)),
      () => (failed === undefined ? Promise.resolve() : engine.retryAgent(id, failed.id)),
      () => engine.addAgent(id, drawLateAgent(random, request, 100 + (late += 1))),
      () => {
        clock.advance(random.below(120_000))
        return Promise.resolve()
      },
    ]
    await random.pick(deeds)()
  }

  const assertAlive = ({ engine, life: own }: Tab): void => {
    if (own.isDead()) throw new TabDied()
    const { state, fatal } = engine.info()
    if (state === 'failed') throw fatal instanceof Error ? fatal : new Error(String(fatal))
  }

  const act = async (tab: Tab): Promise<void> => {
    const id = await begin(tab)
    while (actionsLeft > 0) {
      await drain()
      assertAlive(tab)
      await doSomething(tab, id)
      await drain()
      assertAlive(tab)
      const { nextWakeAt } = tab.engine.info()
      clock.advance(nextWakeAt === null ? 1000 : Math.max(1, nextWakeAt - clock.now()))
    }
  }

  const settle = async (tab: Tab): Promise<void> => {
    const id = await begin(tab)
    for (let round = 0; round < 60; round += 1) {
      await drain()
      assertAlive(tab)
      if (tab.store.sessions.get(id)?.state === 'paused') await tab.engine.resumeSession(id)
      for (const open of questions(tab.engine)) await answer(tab.engine, open)
      await drain()
      assertAlive(tab)
      if (judgeEnd(tab, id).length === 0) return
      clock.advance(75_000)
    }
  }

  const liveThrough = async (diesAt: number, work: (tab: Tab) => Promise<void>): Promise<boolean> => {
    life.lives += 1
    const own = createLife(diesAt)
    // Every other one as in the application, where several transitions are one commit.
    const sandbox = seed % 2 === 0 ? createAheadSandbox(plainSandbox) : plainSandbox
    const parts = { disk, clock, world, sandbox, life: own, random: lifeRandom, isCalm: () => isCalm }
    const tab = openTab({ ...parts, ...(sabotage === undefined ? {} : { sabotage }) })
    try {
      life.problems.push(...tab.engine.start().violations.map((violation) => `after restart: ${violation}`))
      await work(tab)
    } catch (thrown) {
      if (!(thrown instanceof TabDied)) throw thrown
    } finally {
      const diedAt = own.diedAt()
      if (life.lives === 1) life.firstLifeOpportunities = own.opportunities()
      if (diedAt !== null) life.deaths.push(diedAt)
      else if (life.problems.length === 0) judgeNow(tab)
      tab.close()
    }
    return own.diedAt() === null
  }

  const judgeNow = (tab: Tab): void => {
    const id = sessionOf(tab)
    if (id === undefined) return
    life.end = String(tab.store.sessions.get(id)?.state)
    life.problems.push(...tab.store.checkInvariants(), ...danglingReferences(tab), ...judgeStory(tab, id))
    if (!isCalm) return
    life.problems.push(...judgeEnd(tab, id), ...ledgerAgainstWorld(tab, { world, answeredKeys }))
    life.problems.push(...repeatedMutations({ world, wrongDenials: new Map() }))
  }

  for (let deaths = 0; deaths < maxDeaths && life.problems.length === 0; deaths += 1) {
    const diesAt = deaths === 0 && firstDeathAt !== undefined ? firstDeathAt : 1 + lifeRandom.below(150)
    if ((await liveThrough(diesAt, act)) || actionsLeft <= 0) break
  }
  isCalm = true
  world.setWeather(calm)
  if (life.problems.length === 0) await liveThrough(Infinity, settle)
  return life
}
