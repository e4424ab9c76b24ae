import type { Json, JsonText } from './json.ts'

export interface Reservation {
  topic: string
  ids: string[]
}

/** What `prepare` returned, checked. `text` is the whole of it as the script will see it again in `mutate` and `next`. */
export interface PrepareResult {
  reservations: Reservation[]
  /** Clamped to the allowed window; null clears an earlier wake time. */
  wakeAt: number | null
  ui: Json | null
  text: JsonText
}
