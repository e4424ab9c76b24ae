import type { Archive, ArchiveQuery } from '#engine/model/archive.ts'
import type { Result } from '#engine/model/result.ts'
import { ok } from '#engine/model/result.ts'
import type { RetentionStatus, UpkeepSummary } from '#engine/model/retention.ts'
import type { Engine } from '#engine/runtime/engine.ts'
import { pageLimit, toPage } from './sqlite/views/page.ts'
import type { Listed } from './views-api.ts'

/** Retention: what is old goes into an archive, can be looked at again, and its room is given back. */
export interface RetentionApi {
  /** How long things are kept, what is due, what is going on, and how much room there is. */
  getRetention(): Promise<Result<RetentionStatus>>
  /** 0 keeps everything for ever. What is too old from now on is archived at once, in the background. */
  setRetention(change: { days: number }): Promise<Result<null>>
  /** Archives everything that is due and makes the database file as short as it can be. Answers when it is done. */
  reclaimSpace(): Promise<Result<UpkeepSummary>>
  /** Only a finished one, however young; one that was brought back goes away again. */
  archiveSession(id: string): Promise<Result<{ archiveId: string }>>
  archiveRun(id: string): Promise<Result<{ archiveId: string }>>
  /** Newest first. */
  listArchives(query?: ArchiveQuery): Promise<Result<Listed<Archive>>>
  /** By its id or the id of what was archived: one JSON document, compressed with gzip. */
  getArchiveDocument(id: string): Promise<Result<{ fileName: string; bytes: Uint8Array }>>
  /** Brings it back to be looked at, not to be changed; after a whole retention it goes away again. */
  restoreArchive(id: string): Promise<Result<null>>
  /** For good. */
  deleteArchive(id: string): Promise<Result<null>>
}

export const createRetentionApi = (engine: Engine): RetentionApi => ({
  getRetention: () => Promise.resolve(ok(engine.getRetention())),
  setRetention: engine.setRetention,
  reclaimSpace: engine.reclaimSpace,
  archiveSession: engine.archiveSession,
  archiveRun: engine.archiveRun,
  listArchives: (query = {}) => {
    const limit = pageLimit(query.limit)
    return Promise.resolve(ok(toPage(engine.listArchives({ ...query, limit: limit + 1 }), limit)))
  },
  getArchiveDocument: (id) => Promise.resolve(engine.getArchiveDocument(id)),
  restoreArchive: engine.restoreArchive,
  deleteArchive: engine.deleteArchive,
})
