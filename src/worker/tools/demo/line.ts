import type { Json } from '#engine/model/json.ts'
import type { Clock } from '#engine/ports/clock.ts'
import type { ReconcileOutcome, ToolCall, ToolOutcome } from '#engine/ports/tools.ts'
import type { KeyValue } from '../key-value.ts'
import { refused, succeeded, uncertain } from '../outcomes.ts'
import { chance } from './chance.ts'
import { calm, decideFate, needsDice, parseKnobs, type Fate, type Knobs } from './knobs.ts'
import { findOrDeny, readDocument, Refusal, type Ledger, type Request } from './ledger.ts'

interface KnobsDocument {
  knobs: Knobs
  /** Throws of the dice so far: kept, so that a reload does not repeat the same luck. */
  throws: number
}

const KNOBS = 'knobs'
const untouched = (): KnobsDocument => ({ knobs: calm, throws: 0 })

export interface Line {
  read(call: ToolCall, answer: () => Promise<Json>): Promise<ToolOutcome>
  mutate(call: ToolCall, method: string, apply: (request: Request) => Promise<Json>): Promise<ToolOutcome>
  check(call: ToolCall, document: string, fresh: () => Ledger): Promise<ReconcileOutcome>
  knobs(): Promise<Knobs>
  setKnobs(change: Partial<Knobs>): Promise<Knobs>
}

/** The line between the engine and the demo world: the only place where it is slow, fails or loses things. */
export function createLine(world: { clock: Clock; storage: KeyValue; seed: string }): Line {
  const { clock, storage, seed } = world

  async function changeKnobs<T>(change: (document: KnobsDocument) => [KnobsDocument, T]): Promise<T> {
    let outcome: { value: T } | undefined
    await storage.update(KNOBS, (old) => {
      const [document, value] = change(old === undefined ? untouched() : (JSON.parse(old) as KnobsDocument))
      outcome = { value }
      return JSON.stringify(document)
    })
    if (!outcome) throw new Error('The demo storage did not perform the update')
    return outcome.value
  }

  async function meet(kind: 'read' | 'mutation'): Promise<[Fate, Knobs]> {
    const { knobs } = await readDocument(storage, KNOBS, untouched)
    const [fate] = decideFate(knobs, kind, [1, 1])
    if (fate === 'fine' && !needsDice(knobs)) return ['fine', knobs]
    return changeKnobs((document) => {
      const dice = [chance(seed, 'fail', document.throws), chance(seed, 'lose', document.throws)] as const
      const [decided, left] = decideFate(document.knobs, kind, dice)
      return [{ knobs: left, throws: document.throws + 1 }, [decided, document.knobs]]
    })
  }

  const travel = (ms: number, call: ToolCall): Promise<'arrived' | 'aborted'> => {
    if (call.signal.aborted) return Promise.resolve('aborted')
    if (ms === 0) return Promise.resolve('arrived')
    return new Promise((resolve) => {
      const onAbort = () => {
        takeBack()
        resolve('aborted')
      }
      const takeBack = clock.wakeAt(clock.now() + ms, () => {
        call.signal.removeEventListener('abort', onAbort)
        resolve('arrived')
      })
      call.signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  return {
    async read(call, answer) {
      const [fate, knobs] = await meet('read')
      if ((await travel(knobs.latencyMs / 2, call)) === 'aborted') return refused('network', GAVE_UP)
      if (fate === 'hung') await abortion(call)
      if (fate === 'refused') return refused(knobs.failAs, `The demo service refused: ${FAILED_BECAUSE[knobs.failAs]}`)
      if ((await travel(knobs.latencyMs / 2, call)) === 'aborted') return refused('network', GAVE_UP)
      return succeeded(await answer())
    },

    async mutate(call, method, apply) {
      if (call.signal.aborted) return refused('network', 'The call was cancelled before it was sent')
      const [fate, knobs] = await meet('mutation')
      if ((await travel(knobs.latencyMs / 2, call)) === 'aborted') return uncertain('network', GAVE_UP)
      if (fate === 'refused') return refused(knobs.failAs, `The demo service refused: ${FAILED_BECAUSE[knobs.failAs]}`)
      if (fate === 'dropped') return uncertain('network', LOST)
      if (fate === 'hung' && !knobs.hangApplies) {
        await abortion(call)
        return uncertain('network', GAVE_UP)
      }
      try {
        const { idempotencyKey: key, handlerRunId: attempt } = call
        const value = await apply({ key, attempt, method, at: clock.now(), ignoreKeys: knobs.ignoreKeys })
        if (fate === 'hung') await abortion(call)
        if ((await travel(knobs.latencyMs / 2, call)) === 'aborted') return uncertain('network', GAVE_UP)
        return fate === 'lost' ? uncertain('network', LOST) : succeeded(value)
      } catch (error) {
        if (error instanceof Refusal) return refused('logic', error.message)
        throw error
      }
    },

    async check(call, document, fresh) {
      const isUnknown = await changeKnobs<boolean>(({ knobs, throws }) => {
        const left = knobs.unknownNextCheck
        return [{ knobs: { ...knobs, unknownNextCheck: Math.max(0, left - 1) }, throws }, left > 0]
      })
      if (isUnknown) return { kind: 'unknown', message: 'The demo service cannot tell at the moment.' }
      return findOrDeny(storage, document, fresh, { key: call.idempotencyKey, attempt: call.handlerRunId })
    },

    knobs: async () => (await readDocument(storage, KNOBS, untouched)).knobs,
    setKnobs: (change) =>
      changeKnobs((document) => {
        const knobs = parseKnobs({ ...document.knobs, ...change })
        return [{ ...document, knobs }, knobs]
      }),
  }
}

const GAVE_UP = 'The call was given up before the demo service answered'
const LOST = 'The connection to the demo service was lost after the request had been sent.'
const FAILED_BECAUSE: Record<Knobs['failAs'], string> = {
  network: 'it is out of order for the moment',
  auth: 'it wants you to sign in again',
  permission: 'your account may not do that',
  logic: 'it does not accept this request',
}

const abortion = (call: ToolCall): Promise<void> =>
  new Promise((resolve) => {
    if (call.signal.aborted) resolve()
    else call.signal.addEventListener('abort', () => resolve(), { once: true })
  })
