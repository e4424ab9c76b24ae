import type { HandlerRun } from '../model/handler-run.ts'
import type { Reservation } from '../model/prepare-result.ts'

/** What an attempt reserved, read from the prepare result that was checked when it was saved. */
export const reservationsOf = (run: Pick<HandlerRun, 'prepareResult'>): Reservation[] => {
  if (run.prepareResult === null) return []
  const { reservations } = JSON.parse(run.prepareResult) as { reservations: Reservation[] }
  return reservations.map(({ topic, ids }) => ({ topic, ids })).filter(({ ids }) => ids.length > 0)
}
