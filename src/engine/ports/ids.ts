export type IdPrefix = 'wf' | 'scr' | 'run' | 'hr' | 'evt' | 'mut' | 'esc' | 'sess' | 'arc' | `agent_${string}`

/** Every id is greater than every id before it, across restarts and clock jumps: ordering by id is ordering by age. */
export interface Ids {
  next(prefix: IdPrefix): string
  /** 0 ≤ x < 1. For jitter, never for identity. */
  random(): number
}
