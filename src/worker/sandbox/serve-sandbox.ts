import type { CleanMemory } from './clean-memory.ts'
import { createFreshMemory } from './fresh-memory.ts'
import { createInbox, type Inbox, type PhaseJob, type PostedJob } from './phase-link.ts'
import { describeCode, runJob } from './run-job.ts'
import { createSnapshotMemory } from './snapshot-memory.ts'
import type { FromThread, ToThread } from './thread.ts'

/** The inside of a sandbox thread: takes what the supervisor says, one phase at a time. */
export function serveSandbox(post: (message: FromThread) => void): (message: ToThread) => void {
  let booting: Promise<CleanMemory> | undefined
  let inbox: Inbox | undefined
  let known: Pick<PhaseJob, 'code' | 'operations'> = { code: '', operations: [] }

  const booted = (): Promise<CleanMemory> => booting ?? Promise.reject(new Error('asked before boot'))

  const boot = async ({ wasm, memory: kind }: Extract<ToThread, { type: 'boot' }>): Promise<void> => {
    booting = kind === 'snapshot' ? createSnapshotMemory(wasm) : Promise.resolve(createFreshMemory(wasm))
    await booting
    post({ type: 'ready' })
  }

  const work = async (posted: PostedJob): Promise<void> => {
    const { code = known.code, operations = known.operations } = posted
    known = { code, operations }
    const job: PhaseJob = { ...posted, ...known }
    const replies = (inbox = createInbox())
    let taken = 0
    const memory = await booted()
    const outcome = await runJob(memory, job, {
      scriptLoaded: () => post({ type: 'loaded' }),
      send: (calls) => post({ type: 'turn', calls, taken }),
      log: (level, message) => post({ type: 'log', level, message }),
      async receive() {
        const delivery = await replies.next()
        taken += 1
        return delivery
      },
    })
    post({ type: 'done', outcome })
    memory.tidy()
  }

  const act = async (message: ToThread): Promise<void> => {
    if (message.type === 'boot') await boot(message)
    if (message.type === 'phase') await work(message.job)
    if (message.type === 'describe')
      post({ type: 'described', shape: await describeCode(await booted(), message.code) })
    if (message.type === 'reply') inbox?.put(message.delivery)
    if (message.type === 'ping') post({ type: 'pong' })
  }

  return (message) => {
    act(message).catch((error: unknown) => post({ type: 'broken', message: String(error) }))
  }
}
