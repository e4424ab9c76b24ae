/** All that tabs need to find and reach each other. Small, so that whole crowds of tabs can be simulated in a test. */
export interface TabPorts {
  locks: TabLocks
  openChannel: (name: string) => TabChannel
  /** Milliseconds since 1970, never going back within a tab. */
  now: () => number
  /** Calls `wake` once after `ms`; the returned function takes it back. */
  after: (ms: number, wake: () => void) => () => void
  newId: () => string
}

/** The part of `navigator.locks` that is used here. */
export interface TabLocks {
  /**
   * Holds the lock until `whileHeld` is done. Rejects when the wait is aborted or the lock is stolen. With `ifAvailable`
   * `whileHeld` gets null when somebody else has it.
   */
  request(
    name: string,
    options: { steal?: boolean; ifAvailable?: boolean; signal?: AbortSignal },
    whileHeld: (lock: object | null) => Promise<void>,
  ): Promise<void>
}

/** A broadcast among all tabs that opened a channel of that name; the sender does not hear itself. */
export interface TabChannel {
  /** Does nothing once the channel is closed. */
  post: (message: unknown) => void
  onMessage: ((message: unknown) => void) | null
  close: () => void
}
