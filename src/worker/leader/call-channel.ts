import type { TabChannel, TabPorts } from './ports.ts'

/** The tab that was asked went away before it answered. */
export class CallLost extends Error {
  override name = 'CallLost'
}

/** Something that methods can be called on by name: the engine of this tab, or that of another. */
export interface CallTarget {
  call(method: string, args: readonly unknown[]): Promise<unknown>
}

type AnyFunction = (...args: unknown[]) => unknown

type Message =
  | { kind: 'call'; id: number; method: string; args: Packed[] }
  | { kind: 'answer'; id: number; value: Packed }
  | { kind: 'failure'; id: number; message: string }
  /** A function that was handed over is called. */
  | { kind: 'callback'; id: number; args: unknown[] }

/** Functions cannot be cloned: they stay where they are and are called from afar by number. */
type Packed = { value: unknown } | { callback: number }

abstract class Endpoint {
  protected readonly channel: TabChannel
  readonly #callbacks = new Map<number, AnyFunction>()
  #nextCallback = 1

  constructor(channel: TabChannel) {
    this.channel = channel
    channel.onMessage = (message) => this.#receive(message as Message)
  }

  protected abstract receive(message: Exclude<Message, { kind: 'callback' }>): void

  protected pack(value: unknown): Packed {
    if (typeof value !== 'function') return { value }
    const callback = this.#nextCallback++
    this.#callbacks.set(callback, value as AnyFunction)
    return { callback }
  }

  protected unpack(packed: Packed): unknown {
    if ('value' in packed) return packed.value
    return (...args: unknown[]) => this.post({ kind: 'callback', id: packed.callback, args })
  }

  protected post(message: Message): void {
    this.channel.post(message)
  }

  #receive(message: Message): void {
    if (message.kind === 'callback') this.#callbacks.get(message.id)?.(...message.args)
    else this.receive(message)
  }
}

/** The follower's side: calls go to the leader's worker. */
export class RemoteTarget extends Endpoint implements CallTarget {
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (reason: Error) => void }>()
  #nextId = 1
  #isLost = false

  async call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#isLost) throw new CallLost(method)
    const id = this.#nextId++
    this.post({ kind: 'call', id, method, args: args.map((arg) => this.pack(arg)) })
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  /** The leader is gone: nobody will answer any more. */
  lose(): void {
    this.#isLost = true
    this.channel.close()
    for (const { reject } of this.#waiting.values()) reject(new CallLost('The leader is gone.'))
    this.#waiting.clear()
  }

  protected receive(message: Message): void {
    if (message.kind !== 'answer' && message.kind !== 'failure') return
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.kind === 'answer') waiting?.resolve(this.unpack(message.value))
    else waiting?.reject(new Error(message.message))
  }
}

/** The leader's side: answers the calls of one follower. */
export class TargetServer extends Endpoint {
  readonly #target: CallTarget
  /** A function that a call was answered with ends what the call began: a subscription. */
  readonly #ends: AnyFunction[] = []

  constructor(channel: TabChannel, target: CallTarget) {
    super(channel)
    this.#target = target
  }

  /** The follower is gone, and so is everybody who listened there. */
  close(): void {
    this.channel.close()
    for (const end of this.#ends.splice(0)) end()
  }

  protected receive(message: Message): void {
    if (message.kind === 'call') void this.#serve(message)
  }

  async #serve({ id, method, args }: Extract<Message, { kind: 'call' }>): Promise<void> {
    try {
      const value = await this.#target.call(
        method,
        args.map((arg) => this.unpack(arg)),
      )
      if (typeof value === 'function') this.#ends.push(value as AnyFunction)
      this.post({ kind: 'answer', id, value: this.pack(value) })
    } catch (error) {
      this.post({ kind: 'failure', id, message: error instanceof Error ? error.message : String(error) })
    }
  }
}

export const callChannelName = (name: string, connection: string): string => `${name}:call:${connection}`

/** Resolves when the other tab is gone: it holds this lock as long as it lives, and the browser gives it to us afterwards. */
export const whenGone = (ports: TabPorts, name: string, connection: string, signal: AbortSignal): Promise<boolean> =>
  ports.locks
    .request(callChannelName(name, connection), { signal }, () => Promise.resolve())
    .then(
      () => true,
      () => false,
    )
