/**
 * What a script is written against: the module `holdfast`. Types only, and no imports, because the editor's language service
 * is given this file as it is. Each phase has its own `ctx`, so that what a phase may not do is red while it is typed; the
 * host enforces the same again when it runs.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }

declare const payloadOf: unique symbol
/** Declares what the events of a topic carry: `topics: { 'email.received': {} as Topic<Mail> }`. A plain `{}` says nothing. */
export interface Topic<Payload = unknown> {
  readonly [payloadOf]?: Payload
}
type Payload<T> = T extends Topic<infer P> ? (unknown extends P ? any : P) : any // eslint-disable-line @typescript-eslint/no-explicit-any

/** An event as `prepare` sees it. */
export interface TopicEvent<Payload = unknown> {
  /** What makes it the same event when it is published again. */
  readonly messageId: string
  readonly title: string | null
  readonly payload: Payload
  readonly status: 'pending' | 'reserved' | 'consumed' | 'skipped'
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

export interface EventToPublish<Payload = unknown> {
  /** The same whenever the same thing is published again: that is what makes publishing safe to repeat. At most 512 characters. */
  messageId: string
  title?: string | null | undefined
  payload?: Payload
}

// ── Tools ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Nothing after a mutation runs: the host makes the call and ends the script. `next` is told how it went. */
export type Mutation = Promise<never>

export interface HttpReadOptions {
  searchParams?: Readonly<Record<string, string | number | boolean>>
  headers?: Readonly<Record<string, string>>
  /** Milliseconds; 30,000 unless told. */
  timeout?: number
  maxBytes?: number
  responseType?: 'auto' | 'json' | 'text' | 'base64'
  /** Whether an answer that is not 2xx is an error; it is unless told. */
  throwHttpErrors?: boolean
  followRedirects?: boolean
}
export interface HttpMutationOptions extends Omit<HttpReadOptions, 'followRedirects'> {
  json?: unknown
  form?: Readonly<Record<string, string | number | boolean>>
  body?: string
  sendIdempotencyKey?: boolean
}
export interface HttpResponse {
  status: number
  headers: Record<string, string>
  url: string
  body: any // eslint-disable-line @typescript-eslint/no-explicit-any
}
export interface HttpReads {
  get(url: string, options?: HttpReadOptions): Promise<HttpResponse>
  head(url: string, options?: HttpReadOptions): Promise<HttpResponse>
}
export interface HttpMutations {
  post(url: string, options?: HttpMutationOptions): Mutation
  put(url: string, options?: HttpMutationOptions): Mutation
  patch(url: string, options?: HttpMutationOptions): Mutation
  delete(url: string, options?: HttpMutationOptions): Mutation
}

export interface DemoMail {
  id: string
  from: string
  name: string
  subject: string
  body: string
  topic: string
  amount: number | null
  receivedAt: string
}
export interface DemoRow {
  id: string
  values: Record<string, Json>
}
export interface DemoMessage {
  id: string
  from: string
  text: string
  sentAt: string
}
export interface DemoReads {
  inbox: {
    /** Oldest first; `after` is the id of the last mail already seen. */
    list(options?: { after?: string | undefined; limit?: number; withArchived?: boolean }): Promise<DemoMail[]>
    get(id: string): Promise<DemoMail | null>
  }
  sheet: { rows(options?: { sheet?: string; limit?: number }): Promise<DemoRow[]> }
  chat: { messages(options?: { channel?: string; limit?: number }): Promise<DemoMessage[]> }
}
export interface DemoMutations {
  inbox: {
    archive(mail: { id: string }): Mutation
    reply(reply: { id: string; text: string }): Mutation
  }
  sheet: {
    append(row: { sheet?: string; values: Record<string, Json> }): Mutation
    update(row: { sheet?: string; id: string; values: Record<string, Json> }): Mutation
  }
  chat: { send(message: { channel?: string; text: string }): Mutation }
}

export interface FeedItem {
  /** Stable: serves as the `messageId` of an event. */
  id: string
  title: string
  link: string
  summary: string
  author: string
  /** ISO 8601. */
  publishedAt: string | null
}
export interface ParseReads {
  feed(text: string): Promise<{ title: string; link: string; items: FeedItem[] }>
  csv(text: string, options: { header: false; delimiter?: ',' | ';' | '\t' | '|' }): Promise<string[][]>
  csv(text: string, options?: { header?: true; delimiter?: ',' | ';' | '\t' | '|' }): Promise<Record<string, string>[]>
  html(text: string): Promise<{ title: string; text: string; links: { href: string; text: string }[] }>
  jsonLines(text: string): Promise<any[]> // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface NotifyMutations {
  show(notification: { title: string; body?: string }): Mutation
}
export interface ClipboardMutations {
  write(text: string): Mutation
}

/** A file in a folder that the user picked and named. */
export interface FilePath {
  folder: string
  path: string
}
export interface FileReads {
  list(options: { folder: string; path?: string }): Promise<{ name: string; kind: 'file' | 'folder' }[]>
  stat(file: FilePath): Promise<{ kind: 'file' | 'folder'; size: number; modifiedAt: string | null } | null>
  read(file: FilePath & { as?: 'text' | 'base64' }): Promise<string>
}
export interface FileMutations {
  write(file: FilePath & ({ text: string } | { base64: string })): Mutation
  append(file: FilePath & { text: string }): Mutation
  move(file: FilePath & { to: string }): Mutation
  remove(file: FilePath): Mutation
}

export interface LlmQuestion {
  prompt: string
  system?: string
  /** The name of a connection in the settings; the first one unless told. */
  connection?: string
  model?: string
  maxTokens?: number
  temperature?: number
  timeout?: number
}
export interface LlmUsage {
  model: string
  inputTokens: number
  outputTokens: number
  isCutOff: boolean
  /** Millionths of a dollar. */
  costMicros: number
}
export interface LlmReads {
  text(question: LlmQuestion): Promise<LlmUsage & { text: string }>
  /** `schema` is a JSON Schema; `value` fits it. */
  json(question: LlmQuestion & { schema: Readonly<Record<string, unknown>> }): Promise<LlmUsage & { value: any }> // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface GithubIssue {
  number: number
  title: string
  body: string
  state: string
  url: string
  author: string
  labels: string[]
  comments: number
  createdAt: string
  updatedAt: string
  isPullRequest: boolean
}
export interface GithubRelease {
  id: number
  tag: string
  name: string
  body: string
  url: string
  author: string
  isDraft: boolean
  isPrerelease: boolean
  publishedAt: string | null
}
export interface GithubNotification {
  id: string
  reason: string
  isUnread: boolean
  updatedAt: string
  title: string
  type: string
  repo: string
}
export interface GithubReads {
  issues: {
    list(options: {
      repo: string
      state?: 'open' | 'closed' | 'all'
      labels?: readonly string[]
      since?: string
      limit?: number
    }): Promise<GithubIssue[]>
    get(issue: { repo: string; number: number }): Promise<GithubIssue>
  }
  releases: { list(options: { repo: string; limit?: number }): Promise<GithubRelease[]> }
  notifications: { list(options?: { all?: boolean; since?: string; limit?: number }): Promise<GithubNotification[]> }
}
export interface GithubMutations {
  issues: {
    comment(comment: { repo: string; number: number; body: string }): Mutation
    create(issue: { repo: string; title: string; body?: string; labels?: readonly string[] }): Mutation
  }
}

/** What reads the outside world: for producers and `prepare`. A new tool adds its namespace here and below. */
export interface ToolReads {
  readonly http: HttpReads
  readonly parse: ParseReads
  readonly files: FileReads
  readonly llm: LlmReads
  readonly github: GithubReads
  readonly demo: DemoReads
}
/** What changes the outside world: one call, in `mutate`. */
export interface ToolMutations {
  readonly http: HttpMutations
  readonly notify: NotifyMutations
  readonly clipboard: ClipboardMutations
  readonly files: FileMutations
  readonly github: GithubMutations
  readonly demo: DemoMutations
}

// ── What each phase may do ───────────────────────────────────────────────────────────────────────────────────────────

export interface Log {
  debug(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}
interface AnyPhase {
  readonly log: Log
  /** Milliseconds since 1970. */
  now(): number
  /** 0 ≤ x < 1. */
  random(): number
}

type Topics = Readonly<Record<string, object>>
type NamesOf<T> = keyof T & string
/** The topics in a handler's list; none when it has no list. */
type Listed<List> = List extends readonly (infer Name)[] ? Name & string : never
type At<Map, Key> = Key extends keyof Map ? Map[Key] : undefined

interface Publishing<T, Name extends string> {
  /** Takes effect when the handler commits. Publishing the same `messageId` again changes nothing that was consumed. */
  publish<N extends Name>(topic: N, event: EventToPublish<Payload<At<T, N>>>): Promise<void>
}
interface Reading<T, Name extends string> {
  /** Pending events, oldest first; 100 unless told, 1,000 at most. */
  peek<N extends Name>(topic: N, options?: { limit?: number }): Promise<TopicEvent<Payload<At<T, N>>>[]>
  getByIds<N extends Name>(topic: N, messageIds: readonly string[]): Promise<TopicEvent<Payload<At<T, N>>>[]>
}

export interface ProducerContext<T = Topics, Publishes extends string = string> extends AnyPhase, ToolReads {
  readonly topics: Publishing<T, Publishes>
}
export interface PrepareContext<T = Topics, Subscribe extends string = string> extends AnyPhase, ToolReads {
  readonly topics: Reading<T, Subscribe>
}
export interface MutateContext extends AnyPhase, ToolMutations {}
export interface NextContext<T = Topics, Publishes extends string = string> extends AnyPhase {
  readonly topics: Publishing<T, Publishes>
}

/** What `prepare` returns. With empty reservations nothing happens until a new event or `wakeAt`. */
export interface PrepareResult<Data = unknown, Name extends string = string> {
  reservations: readonly { topic: Name; ids: readonly string[] }[]
  data?: Data
  ui?: { title?: string; readonly [key: string]: unknown } | undefined
  /** ISO 8601 with a time zone: `new Date(ctx.now() + 3600_000).toISOString()`. Between 30 seconds and 24 hours from now. */
  wakeAt?: string | null | undefined
}
/** What `mutate` and `next` get back of it. */
export interface Prepared<Data = unknown> extends PrepareResult<Data> {
  readonly data: Data
}

/** How the mutation ended, for `next`. */
export type MutationResult =
  | { readonly status: 'applied'; readonly result: any } // eslint-disable-line @typescript-eslint/no-explicit-any
  | { readonly status: 'none' }
  | { readonly status: 'skipped' }

// ── Workflows ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Five fields: minute, hour, day of month, month, day of week. */
export type Schedule = { interval: Interval } | { cron: string; timezone?: string }
/** At least 10 seconds. */
export type Interval = `${number}${'s' | 'm' | 'h' | 'd'}`

/** Anything JSON can hold. Annotate it (`state: { cursor: string } | null`) to have it checked; it is null the first time. */
type State = any // eslint-disable-line @typescript-eslint/no-explicit-any
type Awaitable<T> = T | Promise<T>
/** Not known where TypeScript cannot infer it; then everything is allowed. */
type Known<Data> = unknown extends Data ? any : Data // eslint-disable-line @typescript-eslint/no-explicit-any

interface ProducerPart<T, Publishes> {
  schedule: Schedule
  publishes?: Publishes & readonly NamesOf<T>[]
  handler(state: State, ctx: ProducerContext<T, Listed<Publishes>>): unknown
}
interface ConsumerPart<T, Subscribe, Publishes, Data> {
  prepare(state: State, ctx: PrepareContext<T, Listed<Subscribe>>): Awaitable<PrepareResult<Data, Listed<Subscribe>>>
  mutate?(prepared: Prepared<Known<Data>>, ctx: MutateContext): unknown
  next?(prepared: Prepared<Known<Data>>, mutation: MutationResult, ctx: NextContext<T, Listed<Publishes>>): unknown
}

type None = {} // eslint-disable-line @typescript-eslint/no-empty-object-type

/**
 * Checks a workflow while it is written; at run time it is the object itself. Which topics a handler may use follows from its own
 * `publishes` and `subscribe`. What `prepare` puts into `data` is not inferred here for `mutate` and `next`: annotate it there,
 * `mutate(prepared: Prepared<{ from: string }>, ctx)`, to have it checked.
 */
export declare function defineWorkflow<
  const T extends Topics = None,
  const P = None,
  const S = None,
  const Q = None,
  D = None,
>(workflow: {
  name: string
  /** What it asks for; the user grants: `demo`, `http:api.example.com`. */
  permissions?: readonly string[]
  topics?: T
  /** Run on a schedule, read the outside world, publish events. */
  producers?: { [K in keyof P]: ProducerPart<T, P[K]> }
  /** Reserve events and carry them through prepare, mutate and next. */
  consumers?: { [K in keyof S]: { subscribe: S[K] & readonly NamesOf<T>[] } } & {
    [K in keyof Q]: { publishes?: Q[K] & readonly NamesOf<T>[] }
  } & { [K in keyof D]: ConsumerPart<T, At<S, K>, At<Q, K>, D[K]> }
}): Workflow

/** What a script exports by default. */
export interface Workflow {
  readonly name: string
}

// ── Agents ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What an agent knows of the session it works in. */
interface SessionView {
  readonly objective: string
  readonly agent: { readonly id: string; readonly key: string; readonly role: string }
  readonly task: any // eslint-disable-line @typescript-eslint/no-explicit-any
  /** The output of each agent it depends on, or of the stage before, by key. */
  readonly handoff: Readonly<Record<string, any>> // eslint-disable-line @typescript-eslint/no-explicit-any
}
export interface SessionMessage {
  readonly from: string
  readonly body: any // eslint-disable-line @typescript-eslint/no-explicit-any
}
interface SessionReads extends SessionView {
  readonly context: { get(key: string): Promise<any> } // eslint-disable-line @typescript-eslint/no-explicit-any
  /** Messages not read yet. */
  inbox(): Promise<SessionMessage[]>
}
/** All of these land with the commit of the handler run. */
interface SessionWrites extends SessionView {
  readonly context: { set(key: string, value: Json): Promise<void> }
  /** To an agent by its key, or to every agent of a role. */
  send(to: string, body: Json): Promise<void>
  output(value: Json): Promise<void>
}

interface AgentTopics {
  /** Carries the one event that starts the agent. */
  readonly task: None
}
export interface AgentPrepareContext extends PrepareContext<AgentTopics, 'task'> {
  readonly session: SessionReads
}
export interface AgentMutateContext extends MutateContext {
  readonly session: SessionView
}
export interface AgentNextContext extends NextContext<AgentTopics, never> {
  readonly session: SessionWrites
}

/** The short form for an agent that does one thing: a workflow with the topic `task` and one consumer of it. */
export declare function defineAgent<Data = unknown>(agent: {
  name?: string
  permissions?: readonly string[]
  prepare(state: State, ctx: AgentPrepareContext): Awaitable<PrepareResult<Data, 'task'>>
  mutate?(prepared: Prepared<Data>, ctx: AgentMutateContext): unknown
  next?(prepared: Prepared<Data>, mutation: MutationResult, ctx: AgentNextContext): unknown
}): Workflow
