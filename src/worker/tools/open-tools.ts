import type { Clock } from '#engine/ports/clock.ts'
import { openOpfsLogFolder } from '../persistence/opfs-log-folder.ts'
import { TextInTurn } from '../persistence/text-in-turn.ts'
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
import type { KeyValue } from './key-value.ts'
import { createTools, type ToolRegistry } from './registry.ts'
import { createSparedKeyValue } from './spared-key-value.ts'

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
  const texts = (name: string): KeyValue =>
    createSparedKeyValue(createIndexedDbKeyValue(`${databaseName}-${name}`), () => openSpare(databaseName, name))
  const vault = createVault({ storage: createIndexedDbVaultStorage(`${databaseName}-vault`), now: clock.now })
  const connections = createConnections(texts('connections'))
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
    demo: { clock, storage: texts('demo'), seed: databaseName },
    notifier: createWorkerNotifier(globalThis.Notification, {
      ...(showNotification && { showNotification }),
      openRun: openRun ?? (() => undefined),
    }),
    clipboard: clipboard ?? { writeText: () => Promise.reject(new Error('no window is open')) },
    folders: createPickedFolders(folders.load),
    fileJournal: texts('files'),
    llm: { connections: connections.llm },
    github: connections.github,
  })
  const testConnection = createConnectionTest({ ...http, find: tools.find, github: connections.github })
  return { tools, vault, connections, folders, testConnection }
}

const openSpare = async (databaseName: string, name: string): Promise<TextInTurn | null> => {
  const folder = await openOpfsLogFolder(`${databaseName}.spare`)
  return folder && TextInTurn.open(folder, name)
}
