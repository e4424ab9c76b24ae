import type { CleanMemory } from './clean-memory.ts'
import { createFreshMemory } from './fresh-memory.ts'
import { createInbox, type Inbox } from './phase-link.ts'
import { describeCode, runJob } from './run-job.ts'
import { createSnapshotMemory } from './snapshot-memory.ts'
import type { FromThread, ToThread } from './thread.ts'

/** The inside of a sandbox thread: takes what the supervisor says, one phase at a time. */
export function serveSandbox(post: (message: FromThread) => void): (message: ToThread) => void {
  let memory: Promise<CleanMemory> | undefined
  let inbox: Inbox | undefined

  const booted = (): Promise<CleanMemory> => memory ?? Promise.reject(new Error('asked before boot'))

  const act = async (message: ToThread): Promise<void> => {
    switch (message.type) {
      case 'boot': {
        const { wasm } = message
        memory = message.memory === 'snapshot' ? createSnapshotMemory(wasm) : Promise.resolve(createFreshMemory(wasm))
        await memory
        return post({ type: 'ready' })
      }
      case 'phase': {
        const replies = (inbox = createInbox())
        let taken = 0
        const outcome = await runJob(await booted(), message.job, {
          scriptLoaded: () => post({ type: 'loaded' }),
          send: (calls) => post({ type: 'turn', calls, taken }),
          log: (level, text) => post({ type: 'log', level, message: text }),
          async receive() {
            const delivery = await replies.next()
            taken += 1
            return delivery
          },
        })
        return post({ type: 'done', outcome })
      }
      case 'describe':
        return post({ type: 'described', shape: await describeCode(await booted(), message.code) })
      case 'reply':
        return inbox?.put(message.delivery)
      case 'ping':
        return post({ type: 'pong' })
    }
  }

  return (message) => {
    act(message).catch((error: unknown) => post({ type: 'broken', message: String(error) }))
  }
}
