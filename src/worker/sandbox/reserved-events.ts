import type { JsonText } from '#engine/model/json.ts'
import type { Reservation } from '#engine/model/prepare-result.ts'

/** What a `prepare` reserves, as far as that can be told without checking it: what is wrong in it is found by others. */
export function reservationsIn(prepared: JsonText): Reservation[] {
  const { reservations } = (JSON.parse(prepared) ?? {}) as { reservations?: unknown }
  if (!Array.isArray(reservations)) return []
  return (reservations as (Reservation | null)[]).filter(
    (reservation) => reservation !== null && Array.isArray(reservation.ids) && reservation.ids.length > 0,
  ) as Reservation[]
}
