import { createHandClock } from '../hand-clock.ts'
import { openPlainEngine, type PlainEngine } from '../plain-engine.ts'
import { createSeededRandom } from '../seeded-random.ts'
import { type BeatPlan, lastBeat } from './beats.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

interface Planned {
  schedule: string
  plan(from: number): BeatPlan
}

const daily = (hour: number, minute: number, timeZone: string): Planned => ({
  schedule: `{ cron: '${minute} ${hour} * * *', timezone: '${timeZone}' }`,
  plan: () => ({ hour, minute, timeZone }),
})
const every = (hours: number): Planned => ({
  schedule: `{ interval: '${hours}h' }`,
  plan: (from) => ({ everyMs: hours * HOUR, from }),
})

/** Among them times that spring leaves out and times that autumn repeats, north and south, by an hour and by half of one. */
const plans: readonly Planned[] = [
  daily(2, 30, 'Europe/Berlin'),
  daily(1, 30, 'America/New_York'),
  daily(2, 15, 'Australia/Lord_Howe'),
  daily(9, 0, 'Asia/Kathmandu'),
  every(7),
  every(50),
]

interface Watched {
  workflowId: string
  plan: BeatPlan
  lastRunAt: number
}

export interface ScheduleLife {
  problems: string[]
  runs: number
  deaths: number
  setBacks: number
  slept: number
}

/** Years of schedules in tabs that sleep, die, and have their clocks set forwards and backwards. */
export const liveWithSchedules = async (seed: number, years: number): Promise<ScheduleLife> => {
  const random = createSeededRandom(seed)
  const clock = createHandClock(Date.UTC(2026, 0, 5, 9))
  const life: ScheduleLife = { problems: [], runs: 0, deaths: 0, setBacks: 0, slept: 0 }
  let tab = await openPlainEngine({ clock })
  tab.engine.start()
  const watched: Watched[] = []
  for (const { schedule, plan } of plans) {
    const source = `export default defineWorkflow({ name: 'w', topics: { t: {} }, producers: { p: { schedule: ${schedule},
      publishes: ['t'], async handler() {} } } })`
    const deployed = await tab.engine.deployWorkflow({ source })
    if (!deployed.ok) throw new Error(JSON.stringify(deployed.error))
    watched.push({ workflowId: deployed.value.workflowId, plan: plan(clock.now()), lastRunAt: clock.now() })
  }
  await tab.engine.idle()
  let seenId = newestRun(tab)
  /** Before it the clock showed other times: of the first beat after it, it cannot be said whether it was served. */
  let segmentFrom = clock.now()

  const judge = (): void => {
    const now = clock.now()
    const fresh = tab.database.all(
      `SELECT id, workflow_id, start_timestamp FROM handler_runs WHERE id > ? AND status = 'committed' ORDER BY id`,
      [seenId],
    )
    for (const { id, workflow_id, start_timestamp } of fresh) {
      seenId = String(id)
      life.runs += 1
      const one = watched.find(({ workflowId }) => workflowId === workflow_id)
      if (one === undefined) continue
      const beat = lastBeat(one.plan, Number(start_timestamp))
      if (beat <= one.lastRunAt) {
        life.problems.push(`${say(one)} ran at ${iso(start_timestamp)} and at ${iso(one.lastRunAt)}: the same beat.`)
      }
      one.lastRunAt = Number(start_timestamp)
    }
    for (const one of watched) {
      const beat = lastBeat(one.plan, now)
      const isSecondAtLeast = lastBeat(one.plan, beat - 1) > segmentFrom
      if (isSecondAtLeast && one.lastRunAt < beat) {
        life.problems.push(`${say(one)} did not serve the beat of ${iso(beat)}: it is ${iso(now)}.`)
        one.lastRunAt = now
      }
    }
  }

  const liveFor = async (ms: number): Promise<void> => {
    const end = clock.now() + ms
    while (clock.now() < end) {
      const at = tab.engine.info().nextWakeAt ?? end
      clock.advance(Math.max(1, Math.min(at, end) - clock.now()))
      await tab.engine.idle()
      judge()
    }
  }

  const reopen = async (): Promise<void> => {
    tab.engine.stop()
    const bytes = tab.exportBytes()
    clock.advance(1)
    tab = await openPlainEngine({ clock, bytes })
    tab.engine.start()
    life.deaths += 1
  }

  const end = clock.now() + years * 365 * DAY
  while (clock.now() < end && life.problems.length === 0) {
    await liveFor(1 + random.below(20 * DAY))
    const isAsleep = random.chance(0.3)
    if (isAsleep) {
      clock.jump(1 + random.below(30 * DAY))
      life.slept += 1
    }
    const isSetBack = random.chance(0.25)
    if (isSetBack) {
      clock.jump(-1 - random.below(random.chance(0.5) ? 3 * HOUR : 40 * DAY))
      life.setBacks += 1
      segmentFrom = clock.now()
      for (const one of watched) if (isLivedAgain(one, segmentFrom)) one.lastRunAt = -Infinity
    }
    if (random.chance(0.3)) {
      // Just begun, not yet committed.
      if (random.chance(0.5)) tab.engine.look()
      await reopen()
    }
    tab.engine.look()
    await tab.engine.idle()
    judge()
  }
  return life
}

/** Set back by less than a beat, the last one must not be served again; by more, it belongs to another time. */
const isLivedAgain = ({ plan, lastRunAt }: Watched, now: number): boolean =>
  now < lastBeat(plan, lastBeat(plan, lastRunAt) - 1)

const newestRun = ({ database }: PlainEngine): string =>
  String(database.get('SELECT max(id) AS id FROM handler_runs')?.['id'] ?? '')

const iso = (at: unknown): string => new Date(Number(at)).toISOString()
const say = ({ plan }: Watched): string => JSON.stringify(plan)
