/**
 * What is on disk is always a prefix of what was committed. Therefore the engine waits only before an outside mutation and
 * before answering a command; everywhere else losing the last few transitions is the same as crashing a little earlier.
 */
export interface Durability {
  /**
   * Resolves when everything committed so far is on disk. While storage is in trouble it waits; it rejects only when this
   * engine is no longer the owner of the data and must not act any more.
   */
  barrier(): Promise<void>
  /** Starts a flush now without waiting: after an outcome was recorded that nobody wants to be asked about. */
  flushSoon(): void
  /** False while storage is full or lost: nothing new may start. */
  isAccepting(): boolean
}
