import { CallLost, callChannelName, RemoteTarget, TargetServer, whenGone, type CallTarget } from './call-channel.ts'
import { Election, type Term } from './election.ts'
import type { TabChannel, TabPorts } from './ports.ts'
import { Relay, type RelayOptions } from './relay.ts'

export type TabRole = 'undecided' | 'leader' | 'follower'

export interface LedEngine<Api extends object> {
  api: Api
  /** The tab leads no longer: stop at once, drop everything, write nothing. */
  close: () => void
}

export interface TabCoordinatorOptions<Api extends object> extends RelayOptions {
  /** The same for all tabs that share the data. */
  name: string
  ports: TabPorts
  /** Opens the engine in this tab. Calls that arrive meanwhile wait for it. */
  lead: (term: { number: number; resign: () => void; announceWork: (forMs: number) => void }) => Promise<LedEngine<Api>>
  onRole?: (role: TabRole) => void
}

export interface TabCoordinator<Api extends object> {
  /** The engine's whole API, wherever the engine runs. */
  api: Api
  role: () => TabRole
  stop: () => void
}

type ConnectMessage =
  { kind: 'connect'; leader: string; connection: string } | { kind: 'connected'; leader: string; connection: string }

/** Elects a leader among the tabs and lets each of them use the leader's engine as if it were its own. */
export function createTabCoordinator<Api extends object>(options: TabCoordinatorOptions<Api>): TabCoordinator<Api> {
  const tab = new Tab(options)
  tab.start()
  return {
    api: apiOf(tab.relay) as Api,
    role: () => tab.role,
    stop: () => tab.stop(),
  }
}

class Tab<Api extends object> {
  readonly relay: Relay
  role: TabRole = 'undecided'
  readonly #options: TabCoordinatorOptions<Api>
  readonly #election: Election
  readonly #lobby: TabChannel
  #leading: Leading<Api> | null = null
  #following: Following | null = null

  constructor(options: TabCoordinatorOptions<Api>) {
    this.#options = options
    this.relay = new Relay(options.ports, options)
    this.#lobby = options.ports.openChannel(`${options.name}:lobby`)
    this.#lobby.onMessage = (message) => this.#meet(message as ConnectMessage)
    this.#election = new Election(options.ports, options.name, {
      onElected: (term) => this.#lead(term),
      onDemoted: () => this.#stopLeading(),
      onLeaderSeen: (term) => this.#follow(term),
    })
  }

  start(): void {
    this.#election.start()
  }

  stop(): void {
    this.#election.stop()
    this.#stopFollowing()
    this.#lobby.close()
  }

  #lead(term: Term): void {
    this.#stopFollowing()
    const opened = this.#options.lead({
      number: term.number,
      resign: () => this.#election.resign(),
      announceWork: (forMs) => this.#election.announceWork(forMs),
    })
    this.#leading = new Leading(this.#options, term, opened)
    this.relay.setTarget(this.#leading)
    this.#setRole('leader')
  }

  #stopLeading(): void {
    this.#leading?.stop()
    this.#leading = null
    this.relay.setTarget(null)
    this.#setRole('undecided')
  }

  #follow(term: Term): void {
    this.#stopFollowing()
    const following = new Following(this.#options, this.#lobby, term.leader)
    this.#following = following
    following.onConnected = (target) => {
      if (this.#following !== following) return
      this.relay.setTarget(target)
      this.#setRole('follower')
    }
    following.start()
  }

  #stopFollowing(): void {
    if (!this.#following) return
    this.relay.setTarget(null)
    this.#following.stop()
    this.#following = null
  }

  #meet(message: ConnectMessage): void {
    if (message.kind === 'connected') this.#following?.noteConnected(message.connection)
    else if (this.#leading?.term.leader === message.leader) {
      this.#leading.admit(message.connection)
      this.#lobby.post({ ...message, kind: 'connected' } satisfies ConnectMessage)
    }
  }

  #setRole(role: TabRole): void {
    if (this.role === role) return
    this.role = role
    this.#options.onRole?.(role)
  }
}

/** This tab leads: its own engine, and a server for each follower. */
class Leading<Api extends object> implements CallTarget {
  readonly term: Term
  readonly #options: TabCoordinatorOptions<Api>
  readonly #engine: Promise<LedEngine<Api>>
  readonly #servers = new Map<string, TargetServer>()
  readonly #ended = new AbortController()
  readonly #underWay = new Set<() => void>()

  constructor(options: TabCoordinatorOptions<Api>, term: Term, engine: Promise<LedEngine<Api>>) {
    this.#options = options
    this.term = term
    this.#engine = engine
  }

  /** Whoever waits when the time as leader is over is told so: the engine that was closed will not answer. */
  call(method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const lose = () => reject(new CallLost(method))
      if (this.#ended.signal.aborted) lose()
      this.#underWay.add(lose)
      this.#invoke(method, args)
        .then(resolve, reject)
        .finally(() => this.#underWay.delete(lose))
    })
  }

  async #invoke(method: string, args: readonly unknown[]): Promise<unknown> {
    const { api } = await this.#engine
    const target = api as Record<string, ((...args: unknown[]) => unknown) | undefined>
    const found = Object.hasOwn(target, method) ? target[method] : undefined
    if (!found) throw new TypeError(`The engine has no method "${method}".`)
    return found.apply(api, [...args])
  }

  admit(connection: string): void {
    if (this.#servers.has(connection)) return
    const { ports, name } = this.#options
    const server = new TargetServer(ports.openChannel(callChannelName(name, connection)), this)
    this.#servers.set(connection, server)
    void whenGone(ports, name, connection, this.#ended.signal).then(() => {
      server.close()
      this.#servers.delete(connection)
    })
  }

  stop(): void {
    this.#ended.abort()
    for (const lose of this.#underWay) lose()
    for (const server of this.#servers.values()) server.close()
    this.#engine.then(
      (engine) => engine.close(),
      () => undefined,
    )
  }
}

/** Another tab leads: a connection to its worker. */
class Following {
  readonly #ports: TabPorts
  readonly #name: string
  readonly #lobby: TabChannel
  readonly #leader: string
  readonly #connection: string
  readonly #target: RemoteTarget
  #end: (() => void) | null = null
  #cancelKnock: (() => void) | null = null
  onConnected: ((target: CallTarget) => void) | null = null

  constructor({ ports, name }: { ports: TabPorts; name: string }, lobby: TabChannel, leader: string) {
    this.#ports = ports
    this.#name = name
    this.#lobby = lobby
    this.#leader = leader
    this.#connection = ports.newId()
    this.#target = new RemoteTarget(ports.openChannel(callChannelName(name, this.#connection)))
  }

  start(): void {
    // The leader waits for this lock to learn that we are gone: it must be ours before the leader hears of us.
    this.#ports.locks
      .request(callChannelName(this.#name, this.#connection), {}, () => {
        const isOver = new Promise<void>((end) => (this.#end = end))
        this.#knock()
        return isOver
      })
      .catch(() => undefined)
  }

  noteConnected(connection: string): void {
    if (connection !== this.#connection) return
    this.#cancelKnock?.()
    this.#cancelKnock = null
    this.onConnected?.(this.#target)
    this.onConnected = null
  }

  stop(): void {
    this.#cancelKnock?.()
    this.onConnected = null
    this.#target.lose()
    this.#end?.()
    this.#end = () => undefined
  }

  /** Until it is heard: a leader that has just been elected may not listen yet. */
  #knock(): void {
    this.#lobby.post({ kind: 'connect', leader: this.#leader, connection: this.#connection } satisfies ConnectMessage)
    this.#cancelKnock = this.#ports.after(KNOCK_MS, () => this.#knock())
  }
}

const KNOCK_MS = 200

/** Methods are looked up where the engine is. */
const apiOf = (relay: Relay): object =>
  new Proxy(
    {},
    {
      get: (_, method) =>
        // A promise that is resolved with this object asks for `then`.
        typeof method === 'string' && method !== 'then' ? (...args: unknown[]) => relay.call(method, args) : undefined,
    },
  )
