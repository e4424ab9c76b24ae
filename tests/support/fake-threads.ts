import type { FromThread, SandboxThread, SpawnThread, ThreadListener, ToThread } from '#worker/sandbox/thread.ts'

/** A sandbox thread in the hands of a test: hears what is posted, says what the test wants. */
export interface FakeThread extends SandboxThread {
  readonly posted: ToThread[]
  readonly isOver: boolean
  say(message: FromThread): void
  die(message: string): void
}

export function createFakeThreads(): { spawn: SpawnThread; threads: FakeThread[] } {
  const threads: FakeThread[] = []
  const spawn = (listener: ThreadListener): FakeThread => {
    const posted: ToThread[] = []
    let isOver = false
    const thread: FakeThread = {
      posted,
      get isOver() {
        return isOver
      },
      post: (message) => posted.push(message),
      terminate: () => {
        isOver = true
      },
      say: (message) => listener.message(message),
      die: (message) => listener.failed(message),
    }
    threads.push(thread)
    return thread
  }
  return { spawn, threads }
}
