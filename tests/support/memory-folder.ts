import type { BackupFolder } from '#worker/persistence/folder-backup.ts'

/** A folder as the browser hands it out after the person picked it. */
export function createMemoryFolder(name = 'Backups') {
  const files = new Map<string, Uint8Array>()
  const control = { permission: 'granted' as PermissionState, failsToWrite: false }
  const folder = {
    name,
    kind: 'directory',
    queryPermission: () => Promise.resolve(control.permission),
    keys: () => files.keys(),
    removeEntry: (file: string) => Promise.resolve(void files.delete(file)),
    getFileHandle: (file: string) =>
      Promise.resolve({
        createWritable: () => {
          const parts: Uint8Array[] = []
          return Promise.resolve({
            write: (bytes: Uint8Array) =>
              control.failsToWrite
                ? Promise.reject(new Error('disk full'))
                : Promise.resolve(parts.push(bytes.slice())),
            abort: () => Promise.resolve(),
            // Only now the file is there: the browser swaps it in at the end.
            close: () => Promise.resolve(void files.set(file, parts[0] ?? new Uint8Array(0))),
          })
        },
      }),
  }
  return { folder: folder as unknown as BackupFolder, files, control }
}
