/** Broadcast to every tab after commits, coalesced: which tables changed, so that screens re-read only what they show. */
export interface ChangeNotice {
  tables: string[]
}

export const changesChannel = 'holdfast:changes'
