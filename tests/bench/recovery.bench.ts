import { expect, test } from 'vitest'
import { writeResult } from '../support/bench-results.ts'
import { liveTwice, type Life } from '../support/live-twice.ts'

const EVENTS = 200
const ROUNDS = 3

test('W4: killed in the middle, nothing is lost and no mutation is made twice', async () => {
  const lives: Life[] = []
  for (let round = 0; round < ROUNDS; round += 1)
    lives.push(await liveTwice(`recovery-${round}`, { workflows: 1, events: EVENTS }))
  const all = (key: keyof Life) => lives.map((life) => life[key])
  const total = (key: keyof Life) => all(key).reduce((sum, value) => sum + value, 0)
  await writeResult('recovery', {
    workload: 'W4',
    title: 'Recovery',
    tables: [
      {
        title: `SIGKILL of the browser in the middle of ${EVENTS} events, then a new one`,
        unit: 'ms',
        better: 'lower',
        reference: 'all events, undisturbed',
        series: [
          { name: 'all events, undisturbed', values: all('undisturbed') },
          { name: 'asked to open → engine runs', values: all('opened') },
          { name: 'asked to open → first step', values: all('firstStep') },
          { name: 'asked to open → everything done', values: all('done') },
        ],
      },
    ],
    checks: [
      { promise: 'Events lost', measured: total('lost'), atMost: 0 },
      { promise: 'Mutations made twice', measured: total('mutationsAgain'), atMost: 0 },
      { promise: 'Attempts made again, per kill', measured: total('attemptsAgain') / ROUNDS, atMost: 1 },
      { promise: 'Steps made again, per kill', measured: total('stepsAgain') / ROUNDS, atMost: 3 },
      { promise: 'Questions to a person', measured: total('questions'), atMost: 0 },
    ],
    notes: [
      'Each mutation appends a row to a sheet of the demo world, which was told not to recognise repetitions: what is done twice is there twice. What was in flight at the kill is looked up before anything is done again.',
    ],
  })
  expect(total('mutationsAgain')).toBe(0)
  expect(total('lost')).toBe(0)
}, 900_000)
