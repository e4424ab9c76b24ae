/** Text that was typed and not saved yet. It belongs to this browser, not to the database: nothing runs it. */
export interface Drafts {
  read(workflowId: string): { text: string; basedOn: string } | null
  write(workflowId: string, text: string, basedOn: string): void
  discard(workflowId: string): void
}

const keyOf = (workflowId: string): string => `holdfast:draft:${workflowId}`

export const createDrafts = (storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): Drafts => ({
  read: (workflowId) => {
    try {
      const found: unknown = JSON.parse(storage.getItem(keyOf(workflowId)) ?? 'null')
      return isDraft(found) ? found : null
    } catch {
      return null
    }
  },
  write: (workflowId, text, basedOn) => {
    try {
      storage.setItem(keyOf(workflowId), JSON.stringify({ text, basedOn }))
    } catch {
      // A full storage must not get in the way of typing: the text is still in the editor.
    }
  },
  discard: (workflowId) => storage.removeItem(keyOf(workflowId)),
})

const isDraft = (value: unknown): value is { text: string; basedOn: string } =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Record<string, unknown>)['text'] === 'string' &&
  typeof (value as Record<string, unknown>)['basedOn'] === 'string'
