import type { Disk, DiskWrite } from '#worker/persistence/disk.ts'

export interface Strike {
  /** Counted from 1. */
  step: number
  /** `during`: the transaction is handed to the browser, and nobody waits for it. */
  manner: 'before' | 'during' | 'after'
}

const steppedMethods = [
  'connect',
  'claim',
  'readState',
  'newestGeneration',
  'readExtents',
  'readRecords',
  'write',
] as const

/** What a write is for: so that a test can see that every kind of step of a fold was struck. */
const nameOfWrite = ({ state, extents, dropRecordsBefore }: DiskWrite): string => {
  if (state) return state.head > 1 ? 'write the head' : 'write the first state'
  if (extents) return 'write extents'
  return dropRecordsBefore === undefined ? 'write records' : 'drop records'
}

/**
 * Numbers everything that is asked of the disk. At the strike `onDying` is told and nothing is answered any more: the rest is up to
 * whoever kills the worker or the browser. Returns the names of the steps, which grow as they happen.
 */
export function dieAtStep(disk: Disk, strike: Strike | null, onDying: (step: string) => void): string[] {
  const steps: string[] = []
  const asFunctions = disk as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  for (const method of steppedMethods) {
    const ask = asFunctions[method]?.bind(disk)
    if (!ask) throw new Error(`The disk has no method "${method}".`)
    asFunctions[method] = async (...args) => {
      const step = method === 'write' ? nameOfWrite(args[0] as DiskWrite) : method
      if (steps.push(step) !== strike?.step) return ask(...args)
      if (strike.manner === 'during') void ask(...args)
      if (strike.manner === 'after') await ask(...args)
      onDying(step)
      return new Promise(() => undefined)
    }
  }
  return steps
}
