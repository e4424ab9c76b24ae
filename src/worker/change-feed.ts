import { changesChannel, type ChangeNotice } from '#engine/model/change-notice.ts'
import type { Database } from './sqlite/database.ts'

/** A frame: screens cannot show more often than that. */
const COALESCE_MS = 16

/** Tells every tab, the leader's own page included, what changed. */
export function startChangeFeed(database: Database): () => void {
  const channel = new BroadcastChannel(changesChannel)
  const gathered = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const send = (): void => {
    timer = undefined
    channel.postMessage({ tables: [...gathered] } satisfies ChangeNotice)
    gathered.clear()
  }
  const stopListening = database.onCommit((tables) => {
    for (const table of tables) gathered.add(table)
    timer ??= setTimeout(send, COALESCE_MS)
  })
  // Another engine leads now, perhaps over another database: nothing that was read before holds for certain.
  send()
  return () => {
    stopListening()
    clearTimeout(timer)
    channel.close()
  }
}
