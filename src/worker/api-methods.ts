/** Besides everything called `list…` or `get…`. */
const otherReads: ReadonlySet<string> = new Set([
  'backupStatus',
  'checkImport',
  'demoSnapshot',
  'engineInfo',
  'exportDatabase',
  'idle',
  'secretsStatus',
  'sql',
  'storage',
  'wake',
])

/**
 * Whether a method may simply be asked again when the leader died before it answered. One that is not known to change nothing
 * may not: a command that is sent twice could be done twice.
 */
export const isReadMethod = (method: string): boolean => /^(?:list|get)[A-Z]/.test(method) || otherReads.has(method)
