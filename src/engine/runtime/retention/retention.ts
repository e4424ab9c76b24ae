import { isWorthGivingBack, nextUpkeepAt } from '../../machine/retention.ts'
import type { ArchiveKind } from '../../model/archive.ts'
import { defaultRetentionDays } from '../../model/retention.ts'
import type { RetentionStatus, UpkeepProgress, UpkeepSummary } from '../../model/retention.ts'
import type { KeptFor } from '../../ports/archive-store.ts'
import type { EnginePorts } from '../ports.ts'
import { lastUpkeepKey, retentionKey } from '../transitions/archives.ts'
import type { Transitions } from '../transitions/index.ts'
import { createPacking } from './packing.ts'

interface RetentionParts {
  ports: EnginePorts
  transitions: Transitions
  /** False once the engine is to start nothing more. */
  mayGoOn(): boolean
}

/** The engine stopped in between: what is left is found again. */
class Interrupted extends Error {}

const subjectsPerLookUp = 50
const fromTheBeginning = { finishedAt: Number.MIN_SAFE_INTEGER, id: '' }

/**
 * Takes what finished long ago out of the tables, one thing at a time, and gives back the room. One at a time also for what a
 * person asks for: two that carry the same rows in different directions would meet.
 */
export const createRetention = ({ ports, transitions, mayGoOn }: RetentionParts) => {
  const { store, clock, durability, space } = ports
  let lookedAt: number | null = null
  let progress: UpkeepProgress | null = null
  let problem: string | null = null
  let isTidying = false
  let isDueAgain = false
  let last: Promise<unknown> = Promise.resolve()

  const pause = async (): Promise<void> => {
    await durability.barrier()
    if (!mayGoOn()) throw new Interrupted('The engine was stopped.')
  }
  const packing = createPacking({ ports, transitions, pause })

  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(async () => {
      try {
        return await work()
      } finally {
        progress = null
      }
    })
    last = turn.catch(() => undefined)
    return turn
  }

  const days = (): number => {
    const text = store.settings.get(retentionKey)
    return text === undefined ? defaultRetentionDays : (JSON.parse(text) as { days: number }).days
  }

  const step = (name: UpkeepProgress['step'], done: number, total: number): void => {
    progress = { step: name, done, total }
  }

  const archiveDue = async (kind: ArchiveKind, kept: KeptFor): Promise<number> => {
    const total = store.archives.countDue(kind, kept)
    let archived = 0
    let after = fromTheBeginning
    for (;;) {
      const due = store.archives.due(kind, kept, after, subjectsPerLookUp)
      for (const subject of due) {
        step('archiving', archived, Math.max(total, archived + 1))
        after = subject
        const put = await packing.archive(subject)
        if (put.ok) archived += 1
        await pause()
      }
      if (due.length === 0) return archived
    }
  }

  /** What a crash left between two places goes away; so does what was brought back a whole retention ago. */
  const putAwayWhatLiesAround = async (kept: KeptFor): Promise<void> => {
    const left = store.archives.unfinished()
    for (const [n, archive] of left.entries()) {
      step('deleting', n, left.length)
      await packing.deleteRows(archive)
    }
    const seen = store.archives.restoredTooLong(kept)
    for (const [n, archive] of seen.entries()) {
      step('deleting', n, seen.length)
      await packing.putBack(archive)
    }
  }

  const giveSpaceBack = async (): Promise<number> => {
    const before = space.read()
    step('giving_space_back', 0, before.freeBytes)
    await space.giveBack()
    return Math.max(0, before.fileBytes - space.read().fileBytes)
  }

  const tidy = async (isAsked: boolean): Promise<UpkeepSummary> => {
    const now = clock.now()
    lookedAt = now
    const kept = { now, days: days() }
    await putAwayWhatLiesAround(kept)
    const sessions = await archiveDue('session', kept)
    const runs = await archiveDue('run', kept)
    const room = space.read()
    const isShortened = isAsked ? room.freeBytes > 0 : isWorthGivingBack(room)
    const freedBytes = isShortened ? await giveSpaceBack() : 0
    const summary = { at: now, sessions, runs, freedBytes }
    if (sessions + runs + freedBytes > 0) transitions.recordUpkeep(summary)
    problem = null
    return summary
  }

  /** By itself, when its time has come. Nobody waits for it, so what goes wrong is kept to be shown. */
  const begin = (): void => {
    lookedAt = clock.now()
    if (isTidying) {
      isDueAgain = true
      return
    }
    isTidying = true
    isDueAgain = false
    void exclusively(() => tidy(false))
      .catch((thrown: unknown) => {
        if (!(thrown instanceof Interrupted)) problem = thrown instanceof Error ? thrown.message : String(thrown)
      })
      .finally(() => {
        isTidying = false
        if (isDueAgain && mayGoOn()) begin()
      })
  }

  const status = (): RetentionStatus => {
    const now = clock.now()
    const kept = { now, days: days() }
    const text = store.settings.get(lastUpkeepKey)
    return {
      days: kept.days,
      due: { sessions: store.archives.countDue('session', kept), runs: store.archives.countDue('run', kept) },
      archives: store.archives.totals(),
      space: space.read(),
      progress,
      last: text === undefined ? null : (JSON.parse(text) as UpkeepSummary),
      nextAt: nextUpkeepAt(lookedAt, now),
      problem,
    }
  }

  return {
    status,
    begin,
    nextAt: (now: number): number => nextUpkeepAt(lookedAt, now),
    /** Look again as soon as there is a chance. */
    lookSoon: (): void => {
      lookedAt = null
    },
    /** Everything that is due, and all the room there is. */
    tidyUp: (): Promise<UpkeepSummary> => exclusively(() => tidy(true)),
    exclusively,
    step,
    packing,
  }
}

export type Retention = ReturnType<typeof createRetention>
