import { diagnosticsText } from '#ui/features/settings/diagnostics.ts'
import { backupName } from '#ui/features/settings/backup-name.ts'
import { expect, test } from 'vitest'

test('diagnostics tell versions, states and sizes, a line each', () => {
  const text = diagnosticsText({
    at: 0,
    browser: 'A browser',
    info: {
      version: '0.1.0',
      role: 'leader',
      state: 'running',
      epoch: 3,
      lastRecovery: {
        at: 1_000,
        durationMs: 12.4,
        recoveredRuns: 1,
        askedUser: 2,
        gaveUp: 0,
        continuedRuns: 4,
        violations: [],
      },
      undone: { count: 2, lastReason: 'Error: constraint' },
      nextWakeAt: null,
      lastLookAt: 2_000,
      lastFlushAt: null,
      sqliteVersion: '3.50.0',
    },
    storage: {
      databaseBytes: 4_096,
      logBytes: 10,
      usageBytes: null,
      quotaBytes: 100,
      isPersisted: false,
      replacedAt: null,
      wasRestored: false,
      trouble: null,
    },
    backup: { kind: 'off' },
    sizes: { tables: [{ name: 'events', rows: 2, bytes: 8_192 }], freeBytes: 0 },
  })
  expect(text.split('\n')).toEqual([
    'Holdfast: 0.1.0, SQLite 3.50.0',
    'Told at: 1970-01-01T00:00:00.000Z',
    'Browser: A browser',
    'Engine: running, leader, epoch 3',
    'Next wake: never',
    'Last look: 1970-01-01T00:00:02.000Z',
    'Last flush: never',
    'Last recovery: 1970-01-01T00:00:01.000Z in 12 ms: 1 recovered, 2 asked, 0 given up, 4 continued, 0 violations',
    'Commits undone: 2, last: Error: constraint',
    'Storage: 4096 bytes of file, 10 of log',
    'Site: ? of 100 bytes, not persisted',
    'Trouble: none',
    'Backup: off',
    'events: 2 rows, 8192 bytes',
  ])
})

test('backups are named by when they were made, so that they sort by age', () => {
  const names = [0, 1, 86_400].map((seconds) => backupName(Date.UTC(2026, 0, 1) + seconds * 1_000))
  expect(names).toEqual([...names].sort())
  expect(names[0]).toMatch(/^holdfast-20\d\d-\d\d-\d\dT\d{6}\.sqlite$/)
})
