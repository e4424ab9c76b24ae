/** What a person has chosen for the whole engine. Kept in the database, so that it goes where a backup goes. */
export interface Preferences {
  /** Workflows that may have a handler running at the same time. */
  maxParallelWorkflows: number
}

/** A question to the database that is worth keeping, by its name. */
export interface SavedQuery {
  name: string
  sql: string
  savedAt: number
}
