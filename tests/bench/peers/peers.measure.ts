import { expect, test } from 'vitest'
import { at, median, writeResult } from '../../support/bench-results.ts'
import { peersAtHand, peersLeftOut } from './child-peer.ts'
import { OURS, startContender, startOurs, type Contender } from './contenders.ts'
import { againstTheBest, createField, createFigures } from './rounds.ts'

const ROUNDS = Number(process.env['PEER_ROUNDS'] ?? 5)
/** How long one measurement of throughput should take: what is quick gets more events, so that a start does not count. */
const MEASURE_MS = Number(process.env['PEER_MEASURE_MS'] ?? 2_000)
const WARM_UP = 10
const MOST = { one: 1_200, many: 2_400 }
const LATENCIES = 40
const WAKES = 10

const eventsFor = (warmUpMs: number, most: number): number =>
  Math.max(WARM_UP, Math.min(most, Math.round((MEASURE_MS / warmUpMs) * WARM_UP)))

const startField = async () => {
  const peers = peersAtHand()
  const field = createField<Contender>(
    [startOurs, ...peers.map((peer) => () => startContender(peer))],
    [OURS, ...peers.map(({ name }) => name)],
  )
  await field.start()
  const close = (member: Contender) => member.close()
  return {
    ...field,
    each: (measure: (member: Contender) => Promise<void>) => field.each(measure, close),
    close: async () => {
      for (const member of field.members()) await close(member)
    },
  }
}

type Field = Awaited<ReturnType<typeof startField>>

const measureThroughput = async (field: Field) => {
  const figures = { one: createFigures(), many: createFigures(), latency: createFigures(), latencyP99: createFigures() }
  const events = new Map<string, { one: number; many: number }>()
  await field.each(async (member) => {
    // The first of anything compiles, connects and fills caches.
    await member.many(WARM_UP)
    const one = eventsFor(await member.one(WARM_UP), MOST.one)
    const many = eventsFor(await member.many(WARM_UP), MOST.many)
    events.set(member.name, { one, many })
  })
  for (let round = 0; round < ROUNDS; round += 1) {
    await field.each(async (member) => {
      const { one, many } = events.get(member.name) ?? { one: WARM_UP, many: WARM_UP }
      figures.one.note(member.name, [(one / (await member.one(one))) * 1000])
      figures.many.note(member.name, [(many / (await member.many(many))) * 1000])
      const latencies = await member.latency(LATENCIES)
      figures.latency.note(member.name, latencies)
      figures.latencyP99.note(member.name, [at(latencies, 0.99)])
      console.log(`round ${round + 1}: ${member.name}`)
    })
  }
  return figures
}

const measureWakes = async (field: Field) => {
  const wakes = createFigures()
  const wakesP99 = createFigures()
  const timeless = new Set<string>()
  for (let round = 0; round < ROUNDS; round += 1) {
    await field.each(async (member) => {
      if (timeless.has(member.name)) return
      // The clock has whole milliseconds, and a ratio needs something to divide by.
      const late = (await member.wake(WAKES))?.map((ms) => Math.max(ms, 0.5))
      if (late === undefined) {
        timeless.add(member.name)
        return
      }
      wakes.note(member.name, late)
      wakesP99.note(member.name, [at(late, 0.99)])
    })
  }
  return { wakes, wakesP99, timeless }
}

test('W1, W2 and W3 beside others that checkpoint every step', async () => {
  const field = await startField()
  try {
    const { one, many, latency, latencyP99 } = await measureThroughput(field)
    const { wakes, wakesP99, timeless } = await measureWakes(field)
    const names = field.members().map(({ name }) => name)
    const peers = peersAtHand().filter(({ name }) => names.includes(name))
    const queues = peers.filter(({ isQueue }) => isQueue === true).map(({ name }) => name)
    const alone = againstTheBest('One at a time', one.series(names), queues, 2)
    const spread = againstTheBest('At once', many.series(names), queues, 1)
    await writeResult('peers', {
      workload: 'W1, W2, W3',
      title: 'Beside others that checkpoint every step',
      tables: [
        { title: 'One event after the other', unit: 'events/s', better: 'higher', series: one.series(names) },
        { title: 'As many at once as allowed', unit: 'events/s', better: 'higher', series: many.series(names) },
        {
          title: 'From publishing to committed, idle before: median',
          unit: 'ms',
          better: 'lower',
          series: latency.series(names),
        },
        {
          title: 'From publishing to committed, idle before: 99th percentile',
          unit: 'ms',
          better: 'lower',
          series: latencyP99.series(names),
        },
        { title: 'From due to started: median', unit: 'ms', better: 'lower', series: wakes.series(names) },
        {
          title: 'From due to started: 99th percentile',
          unit: 'ms',
          better: 'lower',
          series: wakesP99.series(names),
        },
      ].map((table) => ({ ...table, better: table.better as 'higher' | 'lower', reference: OURS })),
      checks: [alone.check, spread.check],
      notes: [
        alone.note,
        spread.note,
        `The same work everywhere: three steps, each with its own checkpoint on disk, around a mutation that does nothing. "At once" is 8 workflows for us. Each measurement has as many events as fill about ${MEASURE_MS / 1000} s, at most ${MOST.one} one by one and ${MOST.many} at once; ${ROUNDS} rounds, everybody in turn in each.`,
        `${LATENCIES * ROUNDS} single events each for the time to commit, of which the 99th percentile is that of each round. For the time to wake, ${WAKES} a round: a sleep of about 0.4 s, for us producers that are due every ten seconds. The clock has whole milliseconds; what was less than half of one is shown as half of one.`,
        'Holdfast runs its scripts in QuickJS sandboxes inside a browser; the peers run trusted code in Node. Its log is in files that are relied on at once, as in any installation that is older than two minutes. Every attempt keeps all of its checkpoints (what `prepare` returned, the mutation with its outcome, the state after `next`) and the disk is synced before every mutation is made; checkpoints between which nothing leaves the engine go to the disk together, where the peers sync each by itself.',
        ...peers.map(({ name, setup }) => `${name}: ${setup}.`),
        ...[...timeless].map((name) => `${name} has no timers, so nothing of it can be due.`),
        `Versions: ${[...peers.flatMap(({ packages }) => packages), process.env['PEER_SERVERS']].filter(Boolean).join(', ')}.`,
        ...peersLeftOut(),
        ...field.leftOut,
      ],
    })
    expect(median(one.series([OURS])[0]?.values ?? [])).toBeGreaterThan(0)
    expect(names.length).toBeGreaterThan(1)
  } finally {
    await field.close()
  }
}, 1_800_000)
