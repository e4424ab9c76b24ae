import type { Browser, Page } from '@playwright/test'

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** In microseconds: how long it took, and how long the processor was at it. */
  dur?: number
  tdur?: number
  args?: { name?: string }
}

const CATEGORIES = ['disabled-by-default-devtools.timeline']

/**
 * The longest task of the page's own thread during some work, in milliseconds of processor time: what other programs do on the
 * machine is not in it.
 */
export async function longestTask(browser: Browser, page: Page, work: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: CATEGORIES })
  let trace: Buffer
  try {
    await work()
  } finally {
    trace = await browser.stopTracing()
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const isMain = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === 'RunTask' && isMain.has(`${pid} ${tid}`))
  return Math.max(0, ...tasks.map(({ dur = 0, tdur = dur }) => tdur)) / 1000
}
