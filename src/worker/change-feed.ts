import { changesChannel, type ChangeNotice } from '#engine/model/change-notice.ts'
import type { Database } from './sqlite/database.ts'

/** A frame: screens cannot show more often than that. */
const COALESCE_MS = 16

export interface ChangeFeed {
  /** Something changed that is in no table. */
  tellAll(): void
  stop(): void
}

/** Tells every tab, the leader's own page included, what changed. */
export function startChangeFeed(database: Database): ChangeFeed {
  const channel = new BroadcastChannel(changesChannel)
  const gathered = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOpen = true
  const post = (tables: string[]): void => {
    if (isOpen) channel.postMessage({ tables } satisfies ChangeNotice)
  }
  const tellAll = (): void => post([])
  const send = (): void => {
    timer = undefined
    post([...gathered])
    gathered.clear()
  }
  const stopListening = database.onCommit((tables) => {
    for (const table of tables) gathered.add(table)
    timer ??= setTimeout(send, COALESCE_MS)
  })
  // Another engine leads now, perhaps over another database: nothing that was read before holds for certain.
  tellAll()
  return {
    tellAll,
    stop: () => {
      isOpen = false
      stopListening()
      clearTimeout(timer)
      channel.close()
    },
  }
}
