import type { StrictSettings } from './strict-settings.ts'

const BACKUPS_KEPT = 10
const FOLDER = 'backup-folder'
const LAST = 'last-backup'
const NAME = /^holdfast-\d{4}-\d{2}-\d{2}T\d{6}\.sqlite$/

export interface BackupDone {
  at: number
  file: string
  bytes: number
}

export type BackupStatus =
  | { kind: 'off' }
  /** The browser wants the person's consent again: the page must ask for it on a click. */
  | { kind: 'needs_permission'; folder: string; last: BackupDone | null }
  | { kind: 'on'; folder: string; last: BackupDone | null }

export type BackupOutcome = { kind: 'done'; backup: BackupDone } | { kind: 'skipped' | 'failed'; message: string }

/** The part of a picked folder that is used. TypeScript does not know the question about permission yet. */
export type BackupFolder = FileSystemDirectoryHandle & {
  queryPermission?: (options: { mode: 'readwrite' }) => Promise<PermissionState>
}

export interface FolderBackup {
  /** The folder that the person picked on the page; null switches automatic backups off. */
  choose: (folder: BackupFolder | null) => Promise<void>
  status: () => Promise<BackupStatus>
  folder: () => Promise<BackupFolder | null>
  backUp: () => Promise<BackupOutcome>
}

export function createFolderBackup(options: {
  settings: StrictSettings
  image: () => Uint8Array<ArrayBuffer>
  now: () => number
}): FolderBackup {
  const { settings, image, now } = options

  const status = async (): Promise<BackupStatus> => {
    const folder = await settings.get<BackupFolder | null>(FOLDER)
    if (!folder) return { kind: 'off' }
    const last = (await settings.get<BackupDone>(LAST)) ?? null
    return { kind: (await isGranted(folder)) ? 'on' : 'needs_permission', folder: folder.name, last }
  }

  const backUp = async (): Promise<BackupOutcome> => {
    const folder = await settings.get<BackupFolder | null>(FOLDER)
    if (!folder) return { kind: 'skipped', message: 'No folder for automatic backups was chosen.' }
    if (!(await isGranted(folder))) {
      return { kind: 'skipped', message: `The browser asks for permission again to write to "${folder.name}".` }
    }
    try {
      const at = now()
      const file = fileNameAt(at)
      const bytes = image()
      await writeFile(folder, file, bytes)
      const backup = { at, file, bytes: bytes.length }
      await settings.set(LAST, backup)
      await removeOldest(folder)
      return { kind: 'done', backup }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return { kind: 'failed', message: `The backup to "${folder.name}" failed: ${reason} Choose the folder again.` }
    }
  }

  return {
    choose: (folder) => settings.set(FOLDER, folder),
    folder: async () => (await settings.get<BackupFolder | null>(FOLDER)) ?? null,
    status,
    backUp,
  }
}

/** The origin's own private folder knows no permissions: there is nothing to ask. */
const isGranted = async (folder: BackupFolder): Promise<boolean> =>
  ((await folder.queryPermission?.({ mode: 'readwrite' })) ?? 'granted') === 'granted'

/** Names sort by age. */
const fileNameAt = (at: number): string =>
  `holdfast-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}.sqlite`

/** The browser writes to a file beside it and puts that in place at the end: a crash leaves no half backup. */
async function writeFile(folder: BackupFolder, name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const file = await folder.getFileHandle(name, { create: true })
  const writable = await file.createWritable()
  try {
    await writable.write(bytes)
  } catch (error) {
    await writable.abort().catch(() => undefined)
    throw error
  }
  await writable.close()
}

/** Only files that we wrote ourselves, by their name. */
async function removeOldest(folder: BackupFolder): Promise<void> {
  const names: string[] = []
  for await (const name of folder.keys()) if (NAME.test(name)) names.push(name)
  for (const name of names.sort().slice(0, -BACKUPS_KEPT)) await folder.removeEntry(name)
}
