import type { CleanMemory } from './clean-memory.ts'
import { createFreshMemory } from './fresh-memory.ts'
import {
  createInbox,
  MOST_HELD_CHARS,
  type HostCall,
  type Inbox,
  type KnownScript,
  type PhaseJob,
  type PostedJob,
} from './phase-link.ts'
import { runAhead } from './run-ahead.ts'
import { describeCode, runJob } from './run-job.ts'
import { createSnapshotMemory } from './snapshot-memory.ts'
import type { FromThread, ToThread } from './thread.ts'
import { createWalkAhead } from './walk-ahead.ts'

/** The inside of a sandbox thread: takes what the supervisor says, one phase at a time. */
export function serveSandbox(post: (message: FromThread) => void): (message: ToThread) => void {
  let booting: Promise<CleanMemory> | undefined
  let inbox: Inbox | undefined
  const known = new Map<string, KnownScript>()

  const booted = (): Promise<CleanMemory> => booting ?? Promise.reject(new Error('asked before boot'))

  const boot = async ({ wasm, memory: kind }: Extract<ToThread, { type: 'boot' }>): Promise<void> => {
    booting = kind === 'snapshot' ? createSnapshotMemory(wasm) : Promise.resolve(createFreshMemory(wasm))
    await booting
    post({ type: 'ready' })
  }

  const scriptOf = ({ scriptId, code, operations = [], mutations = [] }: PostedJob): KnownScript => {
    if (code !== undefined) known.set(scriptId, { code, operations, mutations })
    const script = known.get(scriptId)
    if (script === undefined) throw new Error(`asked for the script ${scriptId}, which was never sent`)
    return script
  }

  const work = async ({ job: posted, forget = '' }: Extract<ToThread, { type: 'phase' }>): Promise<void> => {
    known.delete(forget)
    const job: PhaseJob = { ...posted, ...scriptOf(posted) }
    const replies = (inbox = createInbox())
    let taken = 0
    let tookForeseen = false
    let lastCall: HostCall | undefined
    let noted: HostCall[] = []
    let notedChars = 0
    const takeNoted = (): { noted?: HostCall[] } => {
      const kept = noted
      noted = []
      notedChars = 0
      return kept.length > 0 ? { noted: kept } : {}
    }
    const memory = await booted()
    let told = { now: job.now, at: performance.now() }
    const outcome = await runJob(memory, job, {
      scriptLoaded: () => post({ type: 'loaded' }),
      send: (calls) => post({ type: 'turn', calls, taken, tookForeseen, ...takeNoted() }),
      log: (level, message) => post({ type: 'log', level, message }),
      async receive() {
        const delivery = await replies.next()
        taken += 1
        told = { now: delivery.now, at: performance.now() }
        return delivery
      },
      tookForeseen: () => {
        tookForeseen = true
      },
      note: (calls) => {
        noted.push(...calls)
        for (const { args } of calls) notedChars += args.length
        if (notedChars > MOST_HELD_CHARS) post({ type: 'noted', noted: [], ...takeNoted() })
      },
      last: (call) => {
        lastCall = call
      },
    })
    const ending = lastCall === undefined ? { outcome } : { lastCall }
    const walk = job.then && createWalkAhead(job.then, job.args[0] ?? 'null')
    const first = walk?.after(job.phase, ending)
    post({ type: 'done', ending, tookForeseen, goesOn: first !== undefined, ...takeNoted() })
    if (walk !== undefined && first !== undefined) {
      const tookMs = performance.now() - told.at
      // Rounded down: it must not be ahead of the host's clock.
      const now = told.now + Math.floor(tookMs)
      await runAhead({
        memory,
        job,
        walk,
        first,
        tookMs,
        now,
        post: (results, isLast) => post({ type: 'ahead', results, isLast }),
      })
    }
    memory.tidy()
  }

  const act = async (message: ToThread): Promise<void> => {
    if (message.type === 'boot') await boot(message)
    if (message.type === 'phase') await work(message)
    if (message.type === 'describe')
      post({ type: 'described', shape: await describeCode(await booted(), message.code) })
    if (message.type === 'reply') inbox?.put(message.delivery)
    if (message.type === 'ping') post({ type: 'pong' })
  }

  return (message) => {
    act(message).catch((error: unknown) => post({ type: 'broken', message: String(error) }))
  }
}
