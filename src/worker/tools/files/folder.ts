/** What is needed of a folder the user picked. Paths are checked before: relative, no `..`, parts divided by `/`. */
export interface Folder {
  stat(path: string): Promise<FileStat | undefined>
  /** Undefined when there is no such folder. */
  list(path: string): Promise<FolderEntry[] | undefined>
  /** Undefined when there is no such file. */
  read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** All or nothing: a reader sees the old file or the new one. Makes the folders on the way. */
  write(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  remove(path: string): Promise<void>
}

export interface FileStat {
  kind: 'file' | 'folder'
  size: number
  /** ISO 8601; null for folders. */
  modifiedAt: string | null
}

export interface FolderEntry {
  name: string
  kind: 'file' | 'folder'
}

export interface Folders {
  /** `locked`: it was picked, but after a reload the browser wants the user to allow it again. */
  open(name: string): Promise<{ kind: 'open'; folder: Folder } | { kind: 'missing' } | { kind: 'locked' }>
}

/** Not in the DOM types yet. */
type PermissionAware = FileSystemDirectoryHandle & {
  queryPermission?: (descriptor: { mode: 'readwrite' }) => Promise<PermissionState>
}

/** After a reload the browser may want the user to allow it again, which only a page can ask for. */
export const isLocked = async (handle: PermissionAware): Promise<boolean> =>
  ((await handle.queryPermission?.({ mode: 'readwrite' })) ?? 'granted') !== 'granted'

export const isFolderName = (name: string): boolean => /^[\w][\w .-]{0,63}$/.test(name)
export const FOLDER_NAME_RULE =
  'cannot be the name of a folder: use letters, digits, spaces, _ . and -, beginning with a letter or digit, at most 64.'

/** Folders whose handles the page has stored when the user picked them. */
export function createPickedFolders(load: (name: string) => Promise<FileSystemDirectoryHandle | undefined>): Folders {
  return {
    async open(name) {
      const handle = await load(name)
      if (!handle) return { kind: 'missing' }
      return (await isLocked(handle)) ? { kind: 'locked' } : { kind: 'open', folder: createHandleFolder(handle) }
    },
  }
}

function createHandleFolder(root: FileSystemDirectoryHandle): Folder {
  const walk = async (parts: readonly string[], create: boolean): Promise<FileSystemDirectoryHandle> => {
    let at = root
    for (const part of parts) at = await at.getDirectoryHandle(part, { create })
    return at
  }
  const parentOf = async (path: string, create = false): Promise<[FileSystemDirectoryHandle, string]> => {
    const parts = partsOf(path)
    return [await walk(parts.slice(0, -1), create), parts.at(-1) ?? '']
  }
  const fileAt = async (path: string): Promise<File | undefined> =>
    unlessMissing(async () => {
      const [parent, name] = await parentOf(path)
      return (await parent.getFileHandle(name)).getFile()
    })
  const folderAt = (path: string) => unlessMissing(() => walk(partsOf(path), false))

  return {
    async stat(path) {
      const file = await fileAt(path)
      if (file) return { kind: 'file', size: file.size, modifiedAt: new Date(file.lastModified).toISOString() }
      return (await folderAt(path)) && { kind: 'folder', size: 0, modifiedAt: null }
    },
    async list(path) {
      const folder = await folderAt(path)
      if (!folder) return undefined
      const entries: FolderEntry[] = []
      for await (const [name, handle] of folder.entries()) {
        entries.push({ name, kind: handle.kind === 'file' ? 'file' : 'folder' })
      }
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async read(path) {
      const file = await fileAt(path)
      return file && new Uint8Array(await file.arrayBuffer())
    },
    async write(path, bytes) {
      const [parent, name] = await parentOf(path, true)
      const isNew = (await fileAt(path)) === undefined
      const handle = await parent.getFileHandle(name, { create: true })
      // The browser writes into a copy and puts it in place on close.
      const writable = await handle.createWritable()
      try {
        await writable.write(bytes)
      } catch (error) {
        await writable.abort().catch(() => undefined)
        if (isNew) await parent.removeEntry(name).catch(() => undefined)
        throw error
      }
      await writable.close()
    },
    async remove(path) {
      const [parent, name] = await parentOf(path)
      await parent.removeEntry(name)
    },
  }
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** A file where a folder is expected, or the other way round, is as good as not there. */
async function unlessMissing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DOMException && (error.name === 'NotFoundError' || error.name === 'TypeMismatchError'))
      return undefined
    throw error
  }
}
