import { median, writeResult } from '../support/bench-results.ts'
import { ok } from '#engine/model/result.ts'
import type { CleanMemory } from '#worker/sandbox/clean-memory.ts'
import { createFreshMemory } from '#worker/sandbox/fresh-memory.ts'
import type { Guest } from '#worker/sandbox/guest.ts'
import { createLocalLink, phaseToJob } from '#worker/sandbox/phase-link.ts'
import { runJob } from '#worker/sandbox/run-job.ts'
import { createSnapshotMemory } from '#worker/sandbox/snapshot-memory.ts'
import { expect, test } from 'vitest'
import { createFakePhaseHost, phaseRequest, value } from '../support/phase.ts'
import { loadQuickjsWasm } from '../support/quickjs-wasm.ts'

const ROUNDS = 15
const PHASES_PER_ROUND = { snapshot: 200, fresh: 20, warm: 200 }

/** About 5 KB, as scripts of people are: some helpers, a producer, a consumer. */
const SCRIPT = `
${Array.from({ length: 24 }, (_, i) => `const helper${i} = (mail) => ({ ...mail, subject: mail.subject.trim().toLowerCase(), score: mail.id * ${i}, tags: ['a', 'b', 'c'].map((tag) => tag + ${i}) })`).join('\n')}
exports.default = defineWorkflow({
  name: 'Inbox triage',
  topics: { 'email.received': {} },
  producers: { p: { schedule: { interval: '5m' }, publishes: ['email.received'], async handler(state, ctx) {
    const mails = await ctx.demo.inbox.list({ after: state?.cursor })
    for (const mail of mails.map(helper3)) await ctx.topics.publish('email.received', { messageId: String(mail.id), payload: mail })
    return { cursor: mails.at(-1)?.id ?? state?.cursor }
  } } },
})`

/** What must never be used: the same context again and again, with whatever the phase before left in it. */
function createWarmMemory(fresh: CleanMemory): CleanMemory {
  let guest: Guest | undefined
  return {
    async lend(script, limits) {
      if (guest !== undefined) return ok(guest)
      const lent = await fresh.lend(script, limits)
      if (lent.ok) guest = lent.value
      return lent
    },
    takeBack: () => undefined,
    tidy: () => undefined,
  }
}

const answers = {
  'demo.inbox.list': () => value([1, 2].map((id) => ({ id, subject: ' Hello ', from: 'a@example.com' }))),
}

async function phasesPerSecond(memory: CleanMemory, count: number): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < count; i += 1) {
    const host = createFakePhaseHost(answers)
    const operations = ['demo.inbox.list', 'topics.publish', 'topics.peek', 'http.get']
    const request = phaseRequest(SCRIPT, { scriptId: 'scr_bench', args: ['{"cursor":0}'], operations, host })
    const outcome = await runJob(memory, phaseToJob(request), createLocalLink(host, new AbortController().signal))
    expect(outcome).toEqual({ kind: 'returned', value: '{"cursor":2}' })
  }
  return (count / (performance.now() - startedAt)) * 1_000
}

test('clean memory by snapshot is close to unsafe reuse and far from a fresh instance', async () => {
  const wasm = await loadQuickjsWasm()
  const fresh = createFreshMemory(wasm)
  const memories = { snapshot: await createSnapshotMemory(wasm), fresh, warm: createWarmMemory(fresh) }
  const kinds = ['snapshot', 'fresh', 'warm'] as const
  for (const kind of kinds) await phasesPerSecond(memories[kind], PHASES_PER_ROUND[kind])

  // In turns, so that what else the machine does hits all alike.
  const rates: Record<(typeof kinds)[number], number[]> = { snapshot: [], fresh: [], warm: [] }
  for (let round = 0; round < ROUNDS; round += 1)
    for (const kind of kinds) rates[kind].push(await phasesPerSecond(memories[kind], PHASES_PER_ROUND[kind]))

  const ratio = (a: (typeof kinds)[number], b: (typeof kinds)[number]) =>
    median(rates[a].map((rate, round) => rate / (rates[b][round] ?? NaN)))

  await writeResult('sandbox', {
    workload: 'W7',
    title: 'Sandbox',
    tables: [
      {
        title: 'Phases of a script of 5 KB with three calls on the host, one thread',
        unit: 'phases/s',
        better: 'higher',
        reference: 'snapshot (what is used)',
        series: [
          { name: 'snapshot (what is used)', values: rates.snapshot },
          { name: 'fresh instance (the fallback)', values: rates.fresh },
          { name: 'the same context again, uncleaned (not used)', values: rates.warm },
        ],
      },
    ],
    checks: [
      { promise: 'Snapshot, against a fresh instance', measured: ratio('snapshot', 'fresh'), atLeast: 3 },
      { promise: 'Uncleaned reuse, against snapshot', measured: ratio('warm', 'snapshot'), atMost: 3 },
    ],
    notes: ['QuickJS in Node, in this thread.'],
  })
  expect(ratio('snapshot', 'fresh')).toBeGreaterThan(3)
  expect(ratio('warm', 'snapshot')).toBeLessThan(3)
})
