import type { Browser } from '@playwright/test'

/** Samples of one thread, by what was on top of its stack. */
export interface ThreadProfile {
  /** Addresses of the code that it ran. */
  urls: Set<string>
  /** Microseconds. */
  spent: { name: string; url: string; us: number }[]
}

interface Node {
  id: number
  callFrame: { functionName: string; url?: string }
}

interface TraceEvent {
  name: string
  id?: string
  pid: number
  args?: { data?: { cpuProfile?: { nodes?: Node[]; samples?: number[] }; timeDeltas?: number[] } }
}

/** A sample that comes so late was kept waiting for a processor, and so was the thread: that is nobody's work. */
const LATE_US = 3_000

const CATEGORIES = ['disabled-by-default-v8.cpu_profiler', 'disabled-by-default-v8.cpu_profiler.hires']

/** Samples every thread of the browser while `work` runs. Sampling costs time itself: only the shares can be read from it. */
export async function profileThreads(browser: Browser, work: () => Promise<unknown>): Promise<ThreadProfile[]> {
  const session = await browser.newBrowserCDPSession()
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) events.push(event as unknown as TraceEvent)
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { recordMode: 'recordAsMuchAsPossible', includedCategories: CATEGORIES },
  })
  await work()
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  return threadsOf(events)
}

function threadsOf(events: readonly TraceEvent[]): ThreadProfile[] {
  const chunksByThread = new Map<string, TraceEvent[]>()
  for (const event of events) {
    if (event.name !== 'ProfileChunk') continue
    const thread = `${event.pid} ${String(event.id)}`
    chunksByThread.set(thread, [...(chunksByThread.get(thread) ?? []), event])
  }
  return [...chunksByThread.values()].map((chunks) => {
    const nodes = new Map<number, Node['callFrame']>()
    const usByNode = new Map<number, number>()
    for (const { args } of chunks) {
      const { cpuProfile, timeDeltas = [] } = args?.data ?? {}
      for (const { id, callFrame } of cpuProfile?.nodes ?? []) nodes.set(id, callFrame)
      for (const [n, id] of (cpuProfile?.samples ?? []).entries()) {
        const us = Math.max(0, timeDeltas[n] ?? 0)
        const isWork = us < LATE_US || nodes.get(id)?.functionName === '(idle)'
        if (isWork) usByNode.set(id, (usByNode.get(id) ?? 0) + us)
      }
    }
    const spent = [...usByNode].map(([id, us]) => {
      const { functionName = '', url = '' } = nodes.get(id) ?? {}
      return { name: functionName, url, us }
    })
    return { urls: new Set([...nodes.values()].map(({ url = '' }) => url)), spent }
  })
}
