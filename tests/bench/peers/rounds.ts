import { median, type Check, type Series } from '../../support/bench-results.ts'
import { leftOutLine } from '../../../scripts/peer-list.mjs'
import { OURS } from './contenders.ts'

/** Who takes part, until it breaks: then it is left out with a line, and the others go on. */
export const createField = <T extends { name: string }>(
  start: readonly (() => Promise<T>)[],
  names: readonly string[],
) => {
  const inPlay = new Map<string, T>()
  const leftOut: string[] = []
  const drop = (name: string, error: unknown) => {
    inPlay.delete(name)
    leftOut.push(leftOutLine(name, String(error)))
    console.log(leftOut.at(-1))
  }
  return {
    leftOut,
    drop,
    members: () => [...inPlay.values()],
    async start() {
      for (const [n, open] of start.entries()) {
        const name = names[n] ?? ''
        try {
          inPlay.set(name, await open())
        } catch (error) {
          drop(name, error)
        }
      }
    },
    /** One after the other, in the same order every time; ours may not break. */
    async each(measure: (member: T) => Promise<void>, onDrop: (member: T) => Promise<void>) {
      for (const member of [...inPlay.values()]) {
        try {
          await measure(member)
        } catch (error) {
          if (member.name === OURS) throw error
          drop(member.name, error)
          await onDrop(member)
        }
      }
    },
  }
}

/** What was measured of each, round by round. */
export const createFigures = () => {
  const figures = new Map<string, number[]>()
  return {
    note: (name: string, values: readonly number[]) => {
      figures.set(name, [...(figures.get(name) ?? []), ...values])
    },
    /** Of those who finished every round. */
    series: (names: readonly string[]): Series[] =>
      names.flatMap((name) => {
        const values = figures.get(name)
        return values === undefined ? [] : [{ name, values }]
      }),
  }
}

const best = (series: readonly Series[], queues: readonly string[]): { name: string; value: number } =>
  series
    .filter(({ name }) => name !== OURS && !queues.includes(name))
    .map(({ name, values }) => ({ name, value: median(values) }))
    .toSorted((a, b) => b.value - a.value)[0] ?? { name: 'no peer', value: NaN }

const figure = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3))

/** Our median against that of the best peer that checkpoints its steps, as a promise and as a sentence. */
export const againstTheBest = (
  what: string,
  series: readonly Series[],
  queues: readonly string[],
  atLeast: number,
): { check: Check; note: string } => {
  const peer = best(series, queues)
  const ours = median(series.find(({ name }) => name === OURS)?.values ?? [])
  return {
    check: { promise: `${what}, against the best peer`, measured: ours / peer.value, atLeast },
    note: `${what}: the best peer that checkpoints its steps is ${peer.name} with ${figure(peer.value)} events/s; we make ${figure(ours)}.`,
  }
}
