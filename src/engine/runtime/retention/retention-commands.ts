import { isOldEnough } from '../../machine/retention.ts'
import type { Archive, ArchiveKind, ArchiveQuery } from '../../model/archive.ts'
import { engineError } from '../../model/errors.ts'
import type { Result } from '../../model/result.ts'
import { err, ok } from '../../model/result.ts'
import { isRetentionDays, mostRetentionDays } from '../../model/retention.ts'
import type { UpkeepSummary } from '../../model/retention.ts'
import { parseId } from '../command-input.ts'
import type { EnginePorts } from '../ports.ts'
import type { Scheduler } from '../scheduler.ts'
import { unknownArchive } from '../transitions/archives.ts'
import type { Transitions } from '../transitions/index.ts'
import { unknownSession } from '../transitions/sessions.ts'
import type { Retention } from './retention.ts'

interface RetentionCommandParts {
  ports: EnginePorts
  transitions: Transitions
  scheduler: Pick<Scheduler, 'look'>
  retention: Retention
}

const tooYoung = engineError(
  'illegal_transition',
  'A run can be archived a day after it finished: until then it counts towards the daily limits of its workflow.',
)

/** What a person can tell the archive to do. Each is on disk before it is answered. */
export const createRetentionCommands = ({ ports, transitions, scheduler, retention }: RetentionCommandParts) => {
  const { store, clock, durability } = ports

  const saved = async <T>(result: Result<T>): Promise<Result<T>> => {
    if (result.ok) await durability.barrier()
    return result
  }

  const setRetention = async (wanted: { days: number }): Promise<Result<null>> => {
    const days: unknown = (wanted as Partial<typeof wanted> | null | undefined)?.days
    if (!isRetentionDays(days)) {
      const most = String(mostRetentionDays)
      return err(engineError('invalid_input', `\`days\` must be a whole number from 0 (keep for ever) to ${most}.`))
    }
    transitions.setRetentionDays(days)
    retention.lookSoon()
    scheduler.look()
    return saved(ok(null))
  }

  const archiveNow = async (kind: ArchiveKind, id: string): Promise<Result<{ archiveId: string }>> => {
    const known = store.archives.ofSubject(id)
    if (known !== undefined) return putAwayAgain(known)
    const subject = store.archives.subject(kind, id)
    if (subject === undefined) return err(whyNot(kind, id))
    if (kind === 'run' && !isOldEnough(subject.finishedAt, clock.now())) return err(tooYoung)
    retention.step('archiving', 0, 1)
    const put = await retention.packing.archive(subject)
    return put.ok ? saved(ok({ archiveId: put.value.id })) : put
  }

  const putAwayAgain = async (archive: Archive): Promise<Result<{ archiveId: string }>> => {
    if (archive.isPutAway) return err(engineError('illegal_transition', `"${archive.title}" is archived already.`))
    retention.step('deleting', 0, 1)
    await retention.packing.putBack(archive)
    return saved(ok({ archiveId: archive.id }))
  }

  const whyNot = (kind: ArchiveKind, id: string) => {
    if (kind === 'session') {
      const session = store.sessions.get(id)
      if (session === undefined) return unknownSession(id)
      const rest = session.completedAt === null ? `is ${session.state}` : 'has agents that are still finishing'
      return engineError('illegal_transition', `"${session.objective}" ${rest}: only what is finished can be archived.`)
    }
    const run = store.scriptRuns.get(id)
    if (run === undefined) return engineError('not_found', `There is no run "${id}".`)
    const isAgents = (store.workflows.get(run.workflowId)?.sessionId ?? null) !== null
    return engineError(
      'illegal_transition',
      isAgents
        ? 'This run belongs to an agent: archive its session instead.'
        : 'This run goes on, or waits for a retry or for you: only what is finished can be archived.',
    )
  }

  const restoreNow = async (id: string): Promise<Result<null>> => {
    const archive = store.archives.get(id) ?? store.archives.ofSubject(id)
    if (archive === undefined) return err(unknownArchive(id))
    if (!archive.isPutAway) return err(engineError('illegal_transition', `"${archive.title}" is not put away.`))
    retention.step('restoring', 0, 1)
    try {
      return await saved(await retention.packing.restore(archive, clock.now()))
    } catch (thrown) {
      // Half of it may be there: the next round of upkeep takes that away again, and so does this one if it still can.
      await retention.packing.putBack(archive)
      const reason = thrown instanceof Error ? thrown.message : String(thrown)
      const hint =
        archive.kind === 'run' ? ' The workflow it belonged to may be gone; the document can still be downloaded.' : ''
      return err(engineError('storage', `"${archive.title}" could not be brought back: ${reason}.${hint}`))
    }
  }

  const listArchives = (query: ArchiveQuery & { limit: number }): Archive[] => store.archives.list(query)

  const getArchiveDocument = (wanted: string): Result<{ fileName: string; bytes: Uint8Array }> => {
    const id = parseId('an archive', wanted)
    if (!id.ok) return id
    const archive = store.archives.get(id.value) ?? store.archives.ofSubject(id.value)
    const bytes = archive && store.archives.document(archive.id)
    return archive && bytes ? ok({ fileName: `${archive.subjectId}.json.gz`, bytes }) : err(unknownArchive(id.value))
  }

  const withId =
    <T>(what: string, work: (id: string) => Promise<Result<T>>) =>
    async (wanted: string): Promise<Result<T>> => {
      const id = parseId(what, wanted)
      return id.ok ? retention.exclusively(() => work(id.value)) : id
    }

  return {
    getRetention: retention.status,
    setRetention,
    reclaimSpace: async (): Promise<Result<UpkeepSummary>> => saved(ok(await retention.tidyUp())),
    archiveSession: withId('a session', (id) => archiveNow('session', id)),
    archiveRun: withId('a run', (id) => archiveNow('run', id)),
    restoreArchive: withId('an archive', restoreNow),
    deleteArchive: withId('an archive', async (id) => {
      const deleted = transitions.deleteArchive(id)
      return deleted.ok ? saved(ok(null)) : deleted
    }),
    listArchives,
    getArchiveDocument,
  }
}
