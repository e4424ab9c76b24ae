import { expect, test } from 'vitest'
import { writeResult } from '../../support/bench-results.ts'
import { liveTwice } from '../../support/live-twice.ts'
import { peersAtHand, peersLeftOut } from './child-peer.ts'
import { OURS } from './contenders.ts'
import { killPeer, type Aftermath } from './kill-peer.ts'
import { createField, createFigures } from './rounds.ts'

const ROUNDS = Number(process.env['PEER_ROUNDS'] ?? 3)
const EVENTS = Number(process.env['PEER_KILL_EVENTS'] ?? 200)
const SPREAD = `${OURS}, 8 workflows`

interface Victim {
  name: string
  events: number
  liveAndDie: (round: number) => Promise<Aftermath>
}

const ours = (name: string, workflows: number): Victim => ({
  name,
  events: EVENTS,
  liveAndDie: async (round) => {
    const life = await liveTwice(`killed-${workflows}-${round}`, { workflows, events: EVENTS })
    return {
      firstStepMs: life.relaunchToFirstStep,
      doneMs: life.relaunchToDone,
      stepsAgain: life.stepsAgain,
      mutationsAgain: life.mutationsAgain,
      lost: life.lost,
      accepted: EVENTS,
    }
  },
})

const victims = (): Victim[] => [
  ours(OURS, 1),
  ours(SPREAD, 8),
  // A queue begins a job anew: there is nothing between its steps that could be lost or kept.
  ...peersAtHand()
    .filter(({ isQueue }) => isQueue !== true)
    .map((peer) => {
      const events = Math.min(EVENTS, peer.eventsToKill ?? EVENTS)
      return { name: peer.name, events, liveAndDie: () => killPeer(peer, events) }
    }),
]

const killEveryone = async () => {
  const all = victims()
  const field = createField<Victim>(
    all.map((victim) => () => Promise.resolve(victim)),
    all.map(({ name }) => name),
  )
  await field.start()
  const figures = {
    firstStep: createFigures(),
    done: createFigures(),
    stepsAgain: createFigures(),
    mutationsAgain: createFigures(),
    lost: createFigures(),
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    await field.each(
      async ({ name, liveAndDie }) => {
        const after = await liveAndDie(round)
        console.log(`kill ${round + 1}: ${name} ${JSON.stringify(after)}`)
        if (after.firstStepMs !== null) figures.firstStep.note(name, [after.firstStepMs])
        if (after.doneMs !== null) figures.done.note(name, [after.doneMs])
        figures.stepsAgain.note(name, [after.stepsAgain])
        figures.mutationsAgain.note(name, [after.mutationsAgain])
        figures.lost.note(name, [after.lost])
      },
      () => Promise.resolve(),
    )
  }
  return { field, figures }
}

const total = (values: readonly number[] = []) => values.reduce((sum, value) => sum + value, 0)

test('W4 beside others that checkpoint every step', async () => {
  const { field, figures } = await killEveryone()
  const members = field.members()
  const names = members.map(({ name }) => name)
  const lost = figures.lost.series(names)
  // A time counts only where every round had one.
  const whole = (series: ReturnType<typeof figures.done.series>) =>
    series.filter(({ values }) => values.length === ROUNDS)
  const ofOurs = (each: keyof typeof figures) =>
    total(figures[each].series([OURS, SPREAD]).flatMap(({ values }) => values))
  await writeResult('peers-recovery', {
    workload: 'W4',
    title: 'SIGKILL in the middle, beside others that checkpoint every step',
    tables: [
      { title: 'From the kill to the first step', unit: 'ms', series: whole(figures.firstStep.series(names)) },
      { title: 'From the kill to everything done', unit: 'ms', series: whole(figures.done.series(names)) },
      { title: 'Steps made again, per kill', unit: 'steps', series: figures.stepsAgain.series(names) },
      { title: 'Mutations made again, per kill', unit: 'mutations', series: figures.mutationsAgain.series(names) },
      { title: 'Events accepted and never finished, per kill', unit: 'events', series: lost },
    ].map((table) => ({ ...table, better: 'lower' as const, reference: OURS })),
    checks: [
      { promise: 'Mutations of ours made again', measured: ofOurs('mutationsAgain'), atMost: 0 },
      { promise: 'Events of ours lost', measured: ofOurs('lost'), atMost: 0 },
    ],
    notes: [
      `${EVENTS} events, eight at a time but for our row with one workflow, and SIGKILL when half of the mutations were made; ${ROUNDS} rounds, everybody in turn in each. The times include the start of the process, for us that of the browser.`,
      'Each step leaves a line in a file when it was made, each mutation of ours a row in the demo world as well, which was told not to recognise repetitions: what is done twice is there twice. A phase that we ran ahead counts when the engine takes it: before that it has done nothing, and nobody knows of it.',
      'Before anything is done again we look whether the mutation that was in flight happened. Where it did not, the demo world turns away what of it might still arrive, so that one look is enough. What did not happen begins anew at `prepare`, so that each workflow makes two steps again at the most, none of which is a mutation. Peers do not look: they make the mutation again.',
      ...members
        .filter(({ events }) => events !== EVENTS)
        .map(({ name, events }) => `${name}: ${events} events, because it is slower.`),
      ...lost
        .filter(({ values }) => total(values) > 0)
        .map(
          ({ name, values }) =>
            `${name} left ${values.join(', ')} accepted events unfinished, and has no time to everything done.`,
        ),
      ...peersAtHand().map(({ name, setup }) => `${name}: ${setup}.`),
      ...peersLeftOut(),
      ...field.leftOut,
    ],
  })
  expect(ofOurs('mutationsAgain')).toBe(0)
  expect(ofOurs('lost')).toBe(0)
}, 1_800_000)
