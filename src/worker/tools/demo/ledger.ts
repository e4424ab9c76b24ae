import type { Json } from '#engine/model/json.ts'
import type { ReconcileOutcome } from '#engine/ports/tools.ts'
import type { KeyValue } from '../key-value.ts'

/** One thing that happened in the demo world because somebody asked for it. */
export interface Effect {
  key: string | null
  method: string
  at: number
  value: Json
  /** How often the same key came again and was recognised. */
  repeats: number
}

/** Effect and ledger are one document, so that no crash can separate them. */
export interface Ledger {
  effects: Effect[]
  /** Attempts that were told "it did not happen": what of them still arrives is turned away, so that this stays true. */
  denied?: string[]
}

const KEPT_EFFECTS = 5_000
const KEPT_DENIALS = 1_000

export interface Request {
  key: string | null
  /** The handler run that asks: a retry has the same key, and is another attempt. */
  attempt: string
  method: string
  at: number
  ignoreKeys: boolean
}

/** A change that cannot be made, such as updating a row that is not there: the other side says no. */
export class Refusal extends Error {}

/** Does it unless the same key was there before; then it answers as it did the first time. */
export async function applyOnce<Document extends Ledger>(
  storage: KeyValue,
  name: string,
  fresh: () => Document,
  request: Request,
  change: (document: Document) => Json,
): Promise<Json> {
  let value: Json = null
  let refusal: Refusal | undefined
  await storage.update(name, (old) => {
    const document = old === undefined ? fresh() : (JSON.parse(old) as Document)
    if (document.denied?.includes(request.attempt)) {
      refusal = new Refusal('This request came after it had been looked for in vain, and was turned away')
      return JSON.stringify(document)
    }
    const before = request.key === null ? undefined : document.effects.find(({ key }) => key === request.key)
    if (before && !request.ignoreKeys) {
      before.repeats++
      value = before.value
      return JSON.stringify(document)
    }
    try {
      value = change(document)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refusal = error
      return old ?? JSON.stringify(fresh())
    }
    const { key, method, at } = request
    document.effects = [...document.effects, { key, method, at, value, repeats: 0 }].slice(-KEPT_EFFECTS)
    return JSON.stringify(document)
  })
  if (refusal) throw refusal
  return value
}

export async function readDocument<Document>(
  storage: KeyValue,
  name: string,
  fresh: () => Document,
): Promise<Document> {
  const text = await storage.get(name)
  return text === undefined ? fresh() : (JSON.parse(text) as Document)
}

/**
 * Looks for the effect of an attempt and, where there is none, sees to it in the same atomic update that there never will be. So one
 * look is enough, also when the tab that asked was only asleep and wakes up later.
 */
export async function findOrDeny(
  storage: KeyValue,
  name: string,
  fresh: () => Ledger,
  { key, attempt }: Pick<Request, 'key' | 'attempt'>,
): Promise<ReconcileOutcome> {
  let found: Effect | undefined
  await storage.update(name, (old) => {
    const document = old === undefined ? fresh() : (JSON.parse(old) as Ledger)
    found = key === null ? undefined : document.effects.find((candidate) => candidate.key === key)
    if (!found) document.denied = [...(document.denied ?? []), attempt].slice(-KEPT_DENIALS)
    return JSON.stringify(document)
  })
  return found ? { kind: 'applied', value: found.value } : { kind: 'not_applied', isFinal: true }
}
