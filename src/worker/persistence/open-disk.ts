import type { Disk } from './disk.ts'
import { FileLogDisk, type FileLogOptions } from './file-log-disk.ts'
import { IndexedDbDisk } from './indexed-db-disk.ts'
import { openOpfsLogFolder } from './opfs-log-folder.ts'

/** What a browser has to store a database of this name in: IndexedDB, and for the log files beside it where there are some. */
export const openDisk = (name: string, options: Pick<FileLogOptions, 'ripeAfterMs'> = {}): Disk =>
  new FileLogDisk(new IndexedDbDisk(name, indexedDB), {
    openFolder: () => openOpfsLogFolder(`${name}.log`),
    ...options,
  })
