import * as v from 'valibot'
import { EngineBug } from '#engine/model/errors.ts'
import type { Json } from '#engine/model/json.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { DoubtfulCall, ReconcileOutcome, ToolCall, ToolMethod, ToolOutcome } from '#engine/ports/tools.ts'
import { refused, uncertain } from './outcomes.ts'

/** What the editor and docs/tools.md show. The example is run by a test. */
export interface MethodDoc {
  /** As in a .d.ts: `(url: string, options?: HttpOptions) => Promise<HttpResponse>`. */
  signature: string
  text: string
  example: string
}

export interface DocumentedMethod extends ToolMethod {
  doc: MethodDoc
}

/** Turns the positional arguments of a call into the one value that is checked, recorded and shown to people. */
export type Arguments = (args: readonly Json[]) => unknown

export interface MethodSpec<Input> {
  /** Namespace and method: `demo.inbox.list`. */
  name: string
  kind: ToolMethod['kind']
  isCharged?: boolean
  title: string
  doc: MethodDoc
  arguments: Arguments
  /** What it lets through must go through it again unchanged: parameters are read back from the ledger. */
  input: v.GenericSchema<unknown, Input>
  permissions: (input: Input) => string[]
  call: (input: Input, call: ToolCall) => Promise<ToolOutcome>
  reconcile?: (input: Input, call: DoubtfulCall) => Promise<ReconcileOutcome>
  whereToCheck?: (input: Input) => string
}

/** `f({ … })`, where leaving the object out is the same as an empty one. */
export const oneObject: Arguments = (args) => {
  if (args.length > 1) throw new TooManyArguments(1)
  return args[0] ?? {}
}

/** `f(value, { … })`: the first argument gets a name and joins the options. */
export const valueAndOptions =
  (name: string): Arguments =>
  (args) => {
    if (args.length > 2) throw new TooManyArguments(2)
    const options = args[1] ?? {}
    if (typeof options !== 'object' || Array.isArray(options)) throw new BadArgument('the options must be an object')
    if (name in options) throw new BadArgument(`\`${name}\` is the first argument and may not be among the options too`)
    return { [name]: args[0], ...options }
  }

class BadArgument extends Error {}
class TooManyArguments extends BadArgument {
  constructor(allowed: number) {
    super(allowed === 1 ? 'takes one argument, an object' : `takes at most ${allowed} arguments`)
  }
}

export function defineMethod<Input>(spec: MethodSpec<Input>): DocumentedMethod {
  const dot = spec.name.indexOf('.')
  const inputOf = (params: Json): Input => {
    const parsed = v.safeParse(spec.input, params)
    if (parsed.success) return parsed.output
    throw new EngineBug(`${spec.name} was handed parameters that it had not checked: ${describe(parsed.issues)}`)
  }
  const { reconcile, whereToCheck } = spec
  return {
    namespace: spec.name.slice(0, dot),
    method: spec.name.slice(dot + 1),
    kind: spec.kind,
    isCharged: spec.isCharged ?? false,
    title: spec.title,
    doc: spec.doc,
    parse: (args) => parse(spec, args),
    permissionsFor: (params) => spec.permissions(inputOf(params)),
    call: (params, call) => settle(spec, () => spec.call(inputOf(params), call)),
    ...(reconcile && {
      async reconcile(params, call) {
        const input = v.safeParse(spec.input, params)
        if (input.success) return reconcile(input.output, call)
        return { kind: 'unknown', message: `It was recorded in a way that ${spec.name} does not understand any more` }
      },
    }),
    // Asked about whatever is in the ledger: also about arguments that were refused, or that an older version wrote.
    ...(whereToCheck && {
      whereToCheck(params) {
        const input = v.safeParse(spec.input, params)
        return input.success ? whereToCheck(input.output) : `Look where "${spec.title}" would have had its effect.`
      },
    }),
  }
}

function parse<Input>(spec: MethodSpec<Input>, args: readonly Json[]): Result<Json, string> {
  let raw: unknown
  try {
    raw = spec.arguments(args)
  } catch (error) {
    if (error instanceof BadArgument) return err(withUsage(spec, error.message))
    throw error
  }
  const parsed = v.safeParse(spec.input, raw)
  if (!parsed.success) return err(withUsage(spec, describe(parsed.issues)))
  // Checked input is JSON in, JSON out: no schema here produces anything else.
  return ok(parsed.output as Json)
}

const withUsage = <Input>({ name, doc }: MethodSpec<Input>, problem: string): string =>
  `${problem}. Use it as ${name}${doc.signature}`

/** What escapes a tool is our own bug; a mutation may have gone out before it happened. */
async function settle<Input>(spec: MethodSpec<Input>, call: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await call()
  } catch (error) {
    const message = `${spec.name} broke: ${error instanceof Error ? error.message : String(error)}`
    const extra = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}
    return spec.kind === 'mutation' ? uncertain('internal', message, extra) : refused('internal', message, extra)
  }
}

const describe = (issues: readonly v.BaseIssue<unknown>[]): string => issues.map(describeIssue).join('; ')

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue)
  if (path === null) return issue.message
  if (issue.expected === 'never') return `there is no option \`${path}\``
  if (issue.received === 'undefined') return `\`${path}\` is missing`
  return `\`${path}\`: ${issue.message}`
}
