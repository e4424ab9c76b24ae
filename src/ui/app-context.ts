import { createContext } from 'svelte'
import type { Result } from '#engine/model/result.ts'
import type { EngineApi } from '#worker/api.ts'
import type { ChangeFeed } from './client/change-feed.ts'
import type { EngineClient } from './client/engine-client.ts'
import type { LiveQuery } from './client/live-query.svelte.ts'
import type { Router } from './client/router.svelte.ts'
import type { Commands } from './state/commands.svelte.ts'
import type { EngineStatus } from './state/engine-status.svelte.ts'
import type { IncomingFiles } from './state/incoming-files.svelte.ts'
import type { LiveDemo } from './state/live-demo.svelte.ts'
import type { Theme } from './state/theme.svelte.ts'
import type { Toasts } from './state/toasts.svelte.ts'
import type { Updates } from './state/updates.svelte.ts'

/** What every screen can reach: `const app = useApp()`. */
export interface App {
  engine: EngineApi
  client: EngineClient
  changes: ChangeFeed
  router: Router
  toasts: Toasts
  commands: Commands
  theme: Theme
  status: EngineStatus
  updates: Updates
  demo: LiveDemo
  incoming: IncomingFiles
  /** A live query over these tables: see src/ui/README.md. */
  live: <T>(tables: readonly string[], read: (engine: EngineApi) => Promise<Result<T>>) => LiveQuery<T>
}

export const [useApp, provideApp] = createContext<App>()
