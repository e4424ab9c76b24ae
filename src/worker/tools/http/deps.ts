import type { Clock } from '#engine/ports/clock.ts'
import type { Vault } from '../../secrets/vault.ts'

export interface HttpDeps {
  fetch: typeof fetch
  clock: Clock
  vault: Vault
  /** False only when the platform is sure of it. */
  isOnline: () => boolean
}
