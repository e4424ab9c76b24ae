import type { Clock } from '#engine/ports/clock.ts'
import { createIndexedDbVaultStorage } from '../secrets/vault-storage.ts'
import { createVault, type Vault } from '../secrets/vault.ts'
import type { Clipboard } from './clipboard.ts'
import { createConnectionTest, type TestConnection } from './connection-test.ts'
import { createConnections, type Connections } from './connections.ts'
import { createPickedFolders } from './files/folder.ts'
import { createPickedHandles, type PickedHandles } from './files/picked-handles.ts'
import type { HttpDeps } from './http/deps.ts'
import { createIndexedDbKeyValue } from './indexeddb-key-value.ts'
import { createWorkerNotifier, type NotificationRequest } from './notify.ts'
import { createTools, type ToolRegistry } from './registry.ts'

export interface OpenTools {
  tools: ToolRegistry
  /** For the settings screens. */
  vault: Vault
  connections: Connections
  folders: PickedHandles
  testConnection: TestConnection
}

export interface ToolsInBrowser {
  clock: Clock
  /** Each store is a database of its own beside the engine's, named after it. */
  databaseName: string
  /** What only a page can do; a page that is gone does nothing. */
  clipboard?: Clipboard
  showNotification?: (request: NotificationRequest) => Promise<boolean>
  openRun?: (handlerRunId: string) => void
}

/** The tools on their real platform. */
export function openTools({ clock, databaseName, clipboard, showNotification, openRun }: ToolsInBrowser): OpenTools {
  const vault = createVault({ storage: createIndexedDbVaultStorage(`${databaseName}-vault`), now: clock.now })
  const connections = createConnections(createIndexedDbKeyValue(`${databaseName}-connections`))
  const folders = createPickedHandles(`${databaseName}-folders`)
  const http: HttpDeps = {
    // Taken off its object, fetch throws.
    fetch: (input, init) => globalThis.fetch(input, init),
    clock,
    vault,
    isOnline: () => navigator.onLine,
  }
  const tools = createTools({
    ...http,
    demo: { clock, storage: createIndexedDbKeyValue(`${databaseName}-demo`), seed: databaseName },
    notifier: createWorkerNotifier(globalThis.Notification, {
      ...(showNotification && { showNotification }),
      openRun: openRun ?? (() => undefined),
    }),
    clipboard: clipboard ?? { writeText: () => Promise.reject(new Error('no window is open')) },
    folders: createPickedFolders(folders.load),
    fileJournal: createIndexedDbKeyValue(`${databaseName}-files`),
    llm: { connections: connections.llm },
    github: connections.github,
  })
  const testConnection = createConnectionTest({ ...http, find: tools.find, github: connections.github })
  return { tools, vault, connections, folders, testConnection }
}
