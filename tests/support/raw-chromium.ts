import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { chromiumArguments, chromiumPath } from './launch-chromium.ts'

interface Answer {
  id?: number
  method?: string
  params?: { name?: string; payload?: string }
  sessionId?: string
  result?: Record<string, unknown>
  error?: { message: string }
}

export interface RawTab {
  evaluate: <T>(expression: string) => Promise<T>
  send: (method: string, params?: object) => Promise<Record<string, unknown>>
  /** Goes there and waits until the page is loaded. */
  open: (url: string) => Promise<void>
  /** Gives the page a function of that name, which takes a string. */
  bind: (name: string, called: (payload: string) => void) => Promise<void>
}

/**
 * The browser's own protocol through a pipe, with nothing in between. Playwright makes every tab believe that it is in front, and a
 * tab in front cannot be frozen.
 */
export async function launchRawChromium(profile: string) {
  const args = [...chromiumArguments, '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank']
  const child = spawn(await chromiumPath(), args, {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const gone = exited.then((): Answer => ({ error: { message: 'The browser is gone.' } }))
  const input = child.stdio[3] as Writable
  const output = child.stdio[4] as Readable
  const waiting = new Map<number, (answer: Answer) => void>()
  const loaded = new Map<string, () => void>()
  const bindings = new Map<string, (payload: string) => void>()
  input.on('error', () => undefined)
  let received = ''
  output.on('data', (data: Buffer) => {
    const messages = (received + data.toString()).split('\0')
    received = messages.pop() ?? ''
    for (const message of messages) {
      const answer = JSON.parse(message) as Answer
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
      if (answer.method === 'Page.loadEventFired') loaded.get(answer.sessionId ?? '')?.()
      const { name, payload } = answer.params ?? {}
      if (answer.method === 'Runtime.bindingCalled') bindings.get(`${answer.sessionId} ${name}`)?.(payload ?? '')
    }
  })
  let lastId = 0
  const send = async (method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> => {
    const id = ++lastId
    const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    const { result = {}, error } = await Promise.race([answer, gone])
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
  return {
    async openTab(url: string): Promise<RawTab> {
      const { targetId } = await send('Target.createTarget', { url })
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
      const sendHere = (method: string, params?: object) => send(method, params, String(sessionId))
      return {
        send: sendHere,
        async open(url) {
          const isLoaded = new Promise<void>((resolve) => loaded.set(String(sessionId), resolve))
          await sendHere('Page.enable')
          await sendHere('Page.navigate', { url })
          await Promise.race([isLoaded, gone])
        },
        async bind(name, called) {
          bindings.set(`${String(sessionId)} ${name}`, called)
          await sendHere('Runtime.enable')
          await sendHere('Runtime.addBinding', { name })
        },
        async evaluate<T>(expression: string): Promise<T> {
          const { result, exceptionDetails } = await sendHere('Runtime.evaluate', {
            expression,
            awaitPromise: true,
            returnByValue: true,
          })
          if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
          return (result as { value: T }).value
        },
      }
    },
    /** SIGKILL to the browser and all its processes, as when the power button is held down. */
    async kill(): Promise<void> {
      const isRunning = child.exitCode === null && child.signalCode === null
      if (child.pid !== undefined && isRunning) process.kill(-child.pid, 'SIGKILL')
      await exited
    },
  }
}
