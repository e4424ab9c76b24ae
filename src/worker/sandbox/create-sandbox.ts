import type { Sandbox } from '#engine/ports/sandbox.ts'
import type { CleanMemory } from './clean-memory.ts'
import { createLocalLink, phaseToJob } from './phase-link.ts'
import { describeCode, runJob } from './run-job.ts'
import { createSnapshotMemory } from './snapshot-memory.ts'

export interface SandboxOptions {
  /** QuickJS, compiled once. */
  wasm: WebAssembly.Module
  compile: Sandbox['compile']
  memory?: CleanMemory
}

/** A sandbox in the thread of its caller: complete but for the watchdog, which needs another thread to end. */
export async function createSandbox({ wasm, compile, memory }: SandboxOptions): Promise<Sandbox> {
  const clean = memory ?? (await createSnapshotMemory(wasm))
  return {
    compile,
    describe: (script) => describeCode(clean, script.code),
    async runPhase(request) {
      const abort = new AbortController()
      try {
        return await runJob(clean, phaseToJob(request), createLocalLink(request.host, abort.signal))
      } finally {
        // Whatever the script left under way is nobody's business any more.
        abort.abort()
      }
    },
  }
}
