import { engineError } from '#engine/model/errors.ts'
import { err, type Result } from '#engine/model/result.ts'
import type { EngineApi } from '#worker/api.ts'
import { wrap } from 'comlink'
import type { SessionStream } from './session-stream.ts'

declare global {
  /** The engine's API, for power users and tests. */
  var holdfast: EngineApi & SessionStream
}

type AnyMethod = (...args: unknown[]) => Promise<Result<unknown>>

/** One life of the engine's worker. */
interface Connection {
  worker: Worker
  remote: Record<string, AnyMethod>
  /** Settles calls that will never be answered. */
  lost: Promise<Result<never>>
  lose: (reason: string) => void
}

export interface EngineClientEvents {
  /** A worker whose script does not load answers nothing at all: this is then the only sign of it. */
  onBroken: (reason: string) => void
  /** The worker was replaced by a new one: everything that was read has to be read again. */
  onRestarted: () => void
}

const LOST = 'The engine was restarted before it answered. Look whether it happened before you try again.'

/** The page's one connection to the engine. `engine` stays the same object across restarts of the worker. */
export class EngineClient {
  readonly engine: EngineApi
  readonly #events: EngineClientEvents
  #connection: Connection

  constructor(events: EngineClientEvents) {
    this.#events = events
    this.#connection = this.#connect()
    this.engine = new Proxy({} as EngineApi, {
      // A promise that is resolved with this object asks for `then`.
      get: (_, method) => (typeof method === 'string' && method !== 'then' ? this.#caller(method) : undefined),
    })
  }

  /** Ends the worker without a word, as a crash would, and starts a new one, which recovers. */
  crash(): void {
    const { worker, lose } = this.#connection
    worker.terminate()
    this.#connection = this.#connect()
    lose(LOST)
    this.#events.onRestarted()
  }

  #caller(method: string): AnyMethod {
    return (...args) => {
      const { remote, lost } = this.#connection
      const call = remote[method]
      return call === undefined ? lost : Promise.race([call(...args), lost])
    }
  }

  #connect(): Connection {
    const worker = new Worker(new URL('../../worker/engine.worker.ts', import.meta.url), {
      type: 'module',
      name: 'holdfast-engine',
    })
    let lose: Connection['lose'] = () => undefined
    const lost = new Promise<Result<never>>((resolve) => {
      lose = (reason) => resolve(err(engineError('internal', reason)))
    })
    worker.addEventListener('error', (event) => {
      const reason = event.message || 'The engine could not be loaded.'
      lose(reason)
      if (this.#connection.worker === worker) this.#events.onBroken(reason)
    })
    return { worker, remote: wrap<EngineApi>(worker) as unknown as Connection['remote'], lost, lose }
  }
}
