import { openSandbox } from '#worker/sandbox/open-sandbox.ts'
import { createFakePhaseHost, phaseRequest, producer } from '../../support/phase.ts'
import { hostileScripts } from '../../worker/sandbox/hostile-scripts.ts'
import { disappointments, runHostileScript } from '../../worker/sandbox/run-hostile-script.ts'
import type { Disappointments, SandboxQuestion } from './questions.ts'

// In the place of the engine's worker: its sandbox threads are nested in this one.
const opening = openSandbox()

async function runHostile(from: number, to: number): Promise<Disappointments> {
  const sandbox = await opening
  const found: Disappointments = {}
  for (const hostile of hostileScripts.slice(from, to)) {
    const wrong = disappointments(hostile, await runHostileScript(sandbox, hostile))
    if (wrong.length > 0) found[hostile.name] = wrong
  }
  return found
}

async function runSource(source: string): Promise<string> {
  const sandbox = await opening
  const compiled = await sandbox.compile(source)
  if (!compiled.ok) return JSON.stringify(compiled.error)
  const request = phaseRequest(compiled.value.code, { host: createFakePhaseHost() })
  return JSON.stringify([await sandbox.describe(compiled.value), await sandbox.runPhase(request)])
}

function tryEval(): string {
  try {
    return String((0, eval)('"evaluated"'))
  } catch (error) {
    return error instanceof Error ? error.name : 'thrown'
  }
}

/** How long small phases take, in milliseconds, while so many other workflows compute without end. */
async function measureLatency(hogs: number, times: number): Promise<number[]> {
  const sandbox = await opening
  let isOver = false
  const hog = async (workflowId: string) => {
    while (!isOver)
      await sandbox.runPhase(phaseRequest(producer('for (;;);'), { workflowId, limits: { cpuMs: 1_000 } }))
  }
  const hogging = Array.from({ length: hogs }, (_, i) => hog(`wf_hog_${i}`))
  const request = () =>
    phaseRequest(producer('return await ctx.echo(1)'), {
      scriptId: 'scr_third',
      workflowId: 'wf_third',
      operations: ['echo'],
    })
  for (let i = 0; i < 20; i += 1) await sandbox.runPhase(request())
  const latencies: number[] = []
  for (let i = 0; i < times; i += 1) {
    const startedAt = performance.now()
    await sandbox.runPhase(request())
    latencies.push(performance.now() - startedAt)
  }
  isOver = true
  await Promise.all(hogging)
  return latencies
}

function answer(question: SandboxQuestion): unknown {
  switch (question.ask) {
    case 'hostile':
      return runHostile(question.from, question.to)
    case 'source':
      return runSource(question.source)
    case 'eval':
      return tryEval()
    case 'latency':
      return measureLatency(question.hogs, question.times)
  }
}

addEventListener('message', ({ data }: MessageEvent<{ id: number; question: SandboxQuestion }>) => {
  void Promise.resolve(answer(data.question)).then((result) => postMessage({ id: data.id, answer: result }))
})
