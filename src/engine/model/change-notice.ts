/**
 * Broadcast to every tab after commits, coalesced: which tables changed, so that screens re-read only what they show. No table
 * at all means that everything may have changed.
 */
export interface ChangeNotice {
  tables: string[]
}

export const changesChannel = 'holdfast:changes'
