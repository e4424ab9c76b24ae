import type { BackupStatus, EngineInfo, StorageInfo, TableSizes } from '#worker/api.ts'

export interface DiagnosticFacts {
  at: number
  browser: string
  info: EngineInfo
  storage: StorageInfo
  backup: BackupStatus
  sizes: TableSizes
}

/** What helps to find out what is wrong. Counts and states only: nothing of what the workflows work on. */
export function diagnosticsText({ at, browser, info, storage, backup, sizes }: DiagnosticFacts): string {
  const time = (ms: number | null): string => (ms === null ? 'never' : new Date(ms).toISOString())
  const recovery = info.lastRecovery
  const lines: readonly (readonly [string, string])[] = [
    ['Holdfast', `${info.version}, SQLite ${info.sqliteVersion}`],
    ['Told at', time(at)],
    ['Browser', browser],
    ['Engine', `${info.state}, ${info.role}, epoch ${info.epoch}`],
    ['Next wake', time(info.nextWakeAt)],
    ['Last look', time(info.lastLookAt)],
    ['Last flush', time(info.lastFlushAt)],
    ['Last recovery', recovery === null ? 'none' : recoveryWords(recovery)],
    ...(info.undone === null
      ? []
      : [['Commits undone', `${info.undone.count}, last: ${info.undone.lastReason}`] as const]),
    ['Storage', `${storage.databaseBytes} bytes of file, ${storage.logBytes} of log`],
    ['Site', `${storage.usageBytes ?? '?'} of ${storage.quotaBytes ?? '?'} bytes, ${keptWords(storage)}`],
    ...(storage.wasRestored ? [['Put together again', 'yes, the browser had thrown its database away'] as const] : []),
    ['Trouble', storage.trouble === null ? 'none' : `${storage.trouble.kind}: ${storage.trouble.message}`],
    ['Backup', backup.kind === 'off' ? 'off' : `${backup.kind}, last ${time(backup.last?.at ?? null)}`],
    ...sizes.tables.map(({ name, rows, bytes }) => [name, `${rows} rows, ${bytes} bytes`] as const),
  ]
  return lines.map(([name, words]) => `${name}: ${words}`).join('\n')
}

const keptWords = ({ isPersisted }: StorageInfo): string => (isPersisted ? 'persisted' : 'not persisted')

const recoveryWords = (recovery: NonNullable<EngineInfo['lastRecovery']>): string => {
  const { at, durationMs, recoveredRuns, askedUser, gaveUp, continuedRuns, violations } = recovery
  const counts = `${recoveredRuns} recovered, ${askedUser} asked, ${gaveUp} given up, ${continuedRuns} continued`
  return `${new Date(at).toISOString()} in ${Math.round(durationMs)} ms: ${counts}, ${violations.length} violations`
}
