/** Time comes from outside, so that years can pass in a test and a frozen tab can be told apart from a slow one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `wake` once, at `at` or as soon after it as the platform allows. The returned function takes it back. */
  wakeAt(at: number, wake: () => void): () => void
  /** The time zone schedules use unless told otherwise: an IANA name. */
  readonly timezone: string
}
