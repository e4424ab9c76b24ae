import type { LogFile, LogFolder } from './log-folder.ts'

/** As browsers have it: the mode is newer than TypeScript's own description. */
interface SharingFileHandle {
  createSyncAccessHandle(options: { mode: 'readwrite-unsafe' }): Promise<SyncHandle>
}

interface SyncHandle {
  getSize(): number
  read(into: Uint8Array<ArrayBuffer>, options: { at: number }): number
  write(bytes: Uint8Array<ArrayBuffer>, options: { at: number }): number
  flush(): void
  truncate(size: number): void
  close(): void
}

/**
 * A folder in the origin's private file system. Null where a file cannot be shared: a tab that is frozen keeps its files open, and
 * its successor could not have them. Browsers that do not know the mode ignore it, so it is tried out.
 */
export async function openOpfsLogFolder(name: string): Promise<LogFolder | null> {
  const root = await navigator.storage.getDirectory()
  const directory = await root.getDirectoryHandle(name, { create: true })
  const open = async (file: string): Promise<LogFile> => {
    const handle: unknown = await directory.getFileHandle(file, { create: true })
    return toLogFile(await (handle as SharingFileHandle).createSyncAccessHandle({ mode: 'readwrite-unsafe' }))
  }
  const first = await open('shared')
  try {
    const second = await open('shared')
    second.close()
    return { open }
  } catch {
    return null
  } finally {
    first.close()
  }
}

const toLogFile = (handle: SyncHandle): LogFile => ({
  size: () => handle.getSize(),
  read: (into, at) => void handle.read(into, { at }),
  write(bytes, at) {
    const written = handle.write(bytes, { at })
    if (written !== bytes.length) {
      throw new DOMException(`Only ${written} of ${bytes.length} bytes were written.`, 'QuotaExceededError')
    }
  },
  flush: () => handle.flush(),
  truncate: (size) => handle.truncate(size),
  close: () => handle.close(),
})
