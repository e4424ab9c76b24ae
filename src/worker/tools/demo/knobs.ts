import * as v from 'valibot'

const count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0)
const rate = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0)

/** How the demo world misbehaves. Each `…Next…` is how many of the coming calls it befalls. */
const knobsSchema = v.strictObject({
  /** There and back. */
  latencyMs: v.optional(v.pipe(v.number(), v.minValue(0)), 0),
  /** Share of all calls that are refused: nothing happened, and the caller knows it. */
  failureRate: rate,
  /** Share of mutations that happen while their response is lost: the caller cannot know. */
  lostResponseRate: rate,
  failNext: count,
  failNextRead: count,
  /** The class of a refusal: `logic` is the other side saying no for good. */
  failAs: v.optional(v.picklist(['network', 'auth', 'permission', 'logic']), 'network'),
  loseNextResponse: count,
  /** The request is lost on its way: nothing happened, but the caller cannot know. */
  dropNextRequest: count,
  /** Never answers, until the caller gives up. */
  hangNext: count,
  hangNextRead: count,
  /** Whether a mutation that hangs has happened. */
  hangApplies: v.optional(v.boolean(), true),
  /** Checks whether a mutation happened that cannot be answered. */
  unknownNextCheck: count,
  /** As many real services do: a repeated idempotency key is not recognised, and the thing happens twice. */
  ignoreKeys: v.optional(v.boolean(), false),
})

export type Knobs = v.InferOutput<typeof knobsSchema>
export const calm: Knobs = v.parse(knobsSchema, {})
export const parseKnobs = (value: unknown): Knobs => v.parse(knobsSchema, value)

export type Fate = 'fine' | 'refused' | 'dropped' | 'lost' | 'hung'

/** What befalls the next call, and the knobs as they stand after it. `dice` are two numbers from 0 to 1. */
export function decideFate(knobs: Knobs, kind: 'read' | 'mutation', dice: readonly [number, number]): [Fate, Knobs] {
  const oneShots: readonly (readonly [keyof Knobs, Fate])[] =
    kind === 'read'
      ? [
          ['failNextRead', 'refused'],
          ['hangNextRead', 'hung'],
        ]
      : [
          ['failNext', 'refused'],
          ['dropNextRequest', 'dropped'],
          ['loseNextResponse', 'lost'],
          ['hangNext', 'hung'],
        ]
  for (const [knob, fate] of oneShots) {
    const left = knobs[knob]
    if (typeof left === 'number' && left > 0) return [fate, { ...knobs, [knob]: left - 1 }]
  }
  if (dice[0] < knobs.failureRate) return ['refused', knobs]
  if (kind === 'mutation' && dice[1] < knobs.lostResponseRate) return ['lost', knobs]
  return ['fine', knobs]
}

export const needsDice = (knobs: Knobs): boolean => knobs.failureRate > 0 || knobs.lostResponseRate > 0
