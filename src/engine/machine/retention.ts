export const dayMs = 24 * 60 * 60_000

const lookEveryMs = dayMs

/** What finished by then is old enough; null when everything is kept for ever. */
export const finishedBy = (now: number, days: number): number | null => (days === 0 ? null : now - days * dayMs)

/** For a run that is archived by hand: daily limits are counted from the rows of the last 24 hours. */
export const isOldEnough = (finishedAt: number, now: number): boolean => finishedAt <= now - dayMs

/** A clock that was set back makes it due at once: nothing is lost by looking once more. */
export const nextUpkeepAt = (lookedAt: number | null, now: number): number =>
  lookedAt === null || lookedAt > now ? now : lookedAt + lookEveryMs

const leastFreeBytes = 4 * 1024 * 1024

/** Shortening the file writes it anew: by itself only when that gives back a good part of it. */
export const isWorthGivingBack = ({ fileBytes, freeBytes }: { fileBytes: number; freeBytes: number }): boolean =>
  freeBytes >= leastFreeBytes && freeBytes >= fileBytes / 4
