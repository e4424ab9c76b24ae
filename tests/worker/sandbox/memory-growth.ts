import { failure } from '#engine/model/errors.ts'
import { err } from '#engine/model/result.ts'
import type { Sandbox } from '#engine/ports/sandbox.ts'
import { createSandbox } from '#worker/sandbox/create-sandbox.ts'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createFakePhaseHost, phaseRequest, producer, refuse, value } from '../../support/phase.ts'
import { loadQuickjsWasm } from '../../support/quickjs-wasm.ts'

/** Phases of many kinds, so that every way to end has its share. */
const KINDS = [
  'return { n: (state?.n ?? 0) + 1 }',
  'const a = []; for (let i = 0; i < 2000; i++) a.push({ i, text: "x".repeat(i % 50) }); return a.length',
  'return await Promise.all(Array.from({ length: 20 }, (_, i) => ctx.echo(i)))',
  'console.log("line", { a: 1 }); throw new Error("logic")',
  'await ctx.fail()',
  'try { await ctx.fail() } catch (e) { return e.type }',
  'await ctx.send()',
  'globalThis.kept = new Array(5000).fill({}); (async () => { for (;;) await null })(); return 1',
  'await new Promise(() => {})',
  'const f = () => f() + 1; f()',
  'ctx.echo("forgotten")',
  'ctx.never(); await ctx.echo(1); return new URL("https://example.com/?a=1").searchParams.get("a")',
]
/** Seldom, because each costs an instance. */
const BREAKING = ['for (;;);', 'const a = []; for (;;) a.push(new Uint8Array(1e5))', 'eval("[".repeat(1e5))']
const BREAKING_EVERY = 97

const host = () =>
  createFakePhaseHost({
    echo: (args) => value(args),
    fail: () => refuse(failure('network', 'no')),
    send: () => ({ kind: 'end' }),
    never: () => new Promise(() => undefined),
  })

async function runPhases(sandbox: Sandbox, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const isBreaking = i % BREAKING_EVERY === BREAKING_EVERY - 1
    const kinds = isBreaking ? BREAKING : KINDS
    const kind = Math.floor(isBreaking ? i / BREAKING_EVERY : i) % kinds.length
    await sandbox.runPhase(
      phaseRequest(producer(kinds[kind] ?? ''), {
        scriptId: `scr_${isBreaking ? 'breaking' : 'kind'}_${kind}`,
        operations: ['echo', 'fail', 'send', 'never'],
        host: host(),
        limits: { cpuMs: isBreaking && kind === 0 ? 20 : 60_000 },
      }),
    )
  }
}

/** Everything JavaScript holds, wasm memories included, after all garbage is gone. */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 4; i += 1) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * How many bytes more are held after at least so many phases than after a first few. Both times right after an instance
 * was given up, with all it had cached.
 */
export async function memoryGrowth(phases: number): Promise<number> {
  const sandbox = await createSandbox({ wasm: await loadQuickjsWasm(), compile: () => Promise.resolve(err([])) })
  await runPhases(sandbox, 4 * BREAKING_EVERY)
  const before = await heldBytes()
  await runPhases(sandbox, Math.ceil(phases / BREAKING_EVERY) * BREAKING_EVERY)
  return (await heldBytes()) - before
}
