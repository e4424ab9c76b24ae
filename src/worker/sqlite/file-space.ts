import type { Durability } from '#engine/ports/durability.ts'
import type { Space } from '#engine/ports/space.ts'
import type { Database } from './database.ts'
import { integer } from './row.ts'

const SELECT_SPACE = `
  SELECT page_count * page_size AS file_bytes, freelist_count * page_size AS free_bytes
  FROM pragma_page_count, pragma_page_size, pragma_freelist_count`

/**
 * VACUUM is one commit that may touch every page. What is captured of it is one flush: all of it is on disk or nothing, and
 * then it is folded like any other. Before it everything is flushed, so that nobody waits for both.
 */
export const createFileSpace = (
  database: Database,
  durability: Pick<Durability, 'barrier'>,
  noteCommit: () => void,
  /** Carries out what may keep this thread busy for long. */
  atLength: (work: () => void) => void = (work) => work(),
): Space => ({
  read() {
    const row = database.get(SELECT_SPACE)
    return row
      ? { fileBytes: integer(row, 'file_bytes'), freeBytes: integer(row, 'free_bytes') }
      : { fileBytes: 0, freeBytes: 0 }
  },
  async giveBack() {
    await durability.barrier()
    atLength(() => database.script('VACUUM'))
    noteCommit()
    await durability.barrier()
  },
})
