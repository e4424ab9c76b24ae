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
}

const KEPT_EFFECTS = 5_000

export interface Request {
  key: string | null
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

export async function findEffect(storage: KeyValue, name: string, key: string | null): Promise<ReconcileOutcome> {
  const { effects } = await readDocument<Ledger>(storage, name, () => ({ effects: [] }))
  const effect = key === null ? undefined : effects.find((candidate) => candidate.key === key)
  return effect ? { kind: 'applied', value: effect.value } : { kind: 'not_applied' }
}
