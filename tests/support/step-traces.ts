import type { PhaseOutcome, PhaseRequest, Sandbox } from '#engine/ports/sandbox.ts'
import { openOpfsLogFolder } from '#worker/persistence/opfs-log-folder.ts'

interface StepFile {
  note(step: string): void
  read(): string[]
}

/** A file of the origin: what was written to it is there after a kill, as what a process wrote to its own. */
export const openStepFile = async (): Promise<StepFile> => {
  const folder = await openOpfsLogFolder('step-traces')
  if (folder === null) throw new Error('This browser has no files that can be shared.')
  const file = await folder.open('steps')
  let end = file.size()
  return {
    note: (step) => {
      const line = new TextEncoder().encode(`${step}\n`)
      file.write(line, end)
      end += line.length
    },
    read: () => {
      const bytes = new Uint8Array(file.size())
      file.read(bytes, 0)
      return new TextDecoder().decode(bytes).split('\n').filter(Boolean)
    },
  }
}

interface Carried {
  data?: { n?: number }
}

/** Which event of the carriers it was about; undefined for a look that found none. */
const eventOf = ({ phase, args }: PhaseRequest, outcome: PhaseOutcome): number | undefined => {
  if (phase === 'producer' || outcome.kind === 'failed') return undefined
  const text = phase === 'prepare' ? outcome.kind === 'returned' && outcome.value : args[0]
  return text ? (JSON.parse(text) as Carried).data?.n : undefined
}

/** Notes each phase when the engine has its outcome, which is before it is written anywhere. */
export const tracingSteps = (sandbox: Sandbox, note: (step: string) => void): Sandbox => {
  const noted = (request: PhaseRequest, outcome: PhaseOutcome): PhaseOutcome => {
    const n = eventOf(request, outcome)
    if (n !== undefined) note(`${request.workflowId} ${request.phase} ${n}`)
    return outcome
  }
  return {
    compile: (source) => sandbox.compile(source),
    describe: (script) => sandbox.describe(script),
    runPhase: async (request) => noted(request, await sandbox.runPhase(request)),
    takeAtHand: (request) => {
      const outcome = sandbox.takeAtHand?.(request)
      return outcome && noted(request, outcome)
    },
  }
}
