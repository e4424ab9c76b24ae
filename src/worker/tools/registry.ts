import type { ReconcileOutcome, ToolOutcome, Tools } from '#engine/ports/tools.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'
import { createClipboardTools, type Clipboard } from './clipboard.ts'
import { createDemoWorld, type DemoOptions, type DemoWorld } from './demo/world.ts'
import type { DocumentedMethod } from './define-method.ts'
import { createFileTools } from './files/file-tools.ts'
import type { Folders } from './files/folder.ts'
import type { GithubSettings } from './github/github-client.ts'
import { createGithubTools } from './github/github-tools.ts'
import type { HttpDeps } from './http/deps.ts'
import { createHttpTools } from './http/http-tools.ts'
import type { KeyValue } from './key-value.ts'
import type { LlmSettings } from './llm/connection.ts'
import { createLlmTools } from './llm/llm-tools.ts'
import { createNotifyTools, type Notifier } from './notify.ts'
import { createParseTools } from './parse/parse-tools.ts'
import { covers } from './permissions.ts'

/** The platform, one small port each. */
export interface ToolDeps extends HttpDeps {
  demo: DemoOptions
  notifier: Notifier
  clipboard: Clipboard
  folders: Folders
  /** Must outlive a crash: it tells afterwards whether a file was written. */
  fileJournal: KeyValue
  llm: LlmSettings
  github: () => Promise<GithubSettings>
}

/** The tools port, with what the editor shows for each method, and the demo world for its own screen. */
export interface ToolRegistry extends Tools {
  list(): readonly DocumentedMethod[]
  demo: DemoWorld
}

export function createTools(deps: ToolDeps): ToolRegistry {
  const demo = createDemoWorld(deps.demo)
  const methods = [
    ...createHttpTools(deps),
    ...createParseTools(),
    ...createNotifyTools(deps.notifier),
    ...createClipboardTools(deps.clipboard),
    ...createFileTools({ folders: deps.folders, journal: deps.fileJournal, now: () => deps.clock.now() }),
    ...createLlmTools(deps),
    ...createGithubTools(deps),
    ...demo.tools,
  ].map((method) => keepSecrets(method, deps.vault))
  const methodsByName = new Map(methods.map((method) => [`${method.namespace}.${method.method}`, method]))
  return {
    find: (namespace, method) => methodsByName.get(`${namespace}.${method}`),
    list: () => methods,
    covers,
    demo,
  }
}

/** Whatever comes back from outside goes through here: a server may echo the key it was sent, an error may quote it. */
function keepSecrets(method: DocumentedMethod, vault: Vault): DocumentedMethod {
  return {
    ...method,
    async call(params, call) {
      const outcome = await method.call(params, call)
      return redactOutcome(outcome, await vault.redactor())
    },
    ...(method.reconcile && {
      async reconcile(params, call) {
        const outcome = (await method.reconcile?.(params, call)) ?? { kind: 'unknown', message: 'It cannot be checked' }
        return redactReconciliation(outcome, await vault.redactor())
      },
    }),
  }
}

function redactOutcome(outcome: ToolOutcome, redactor: Redactor): ToolOutcome {
  if (outcome.kind === 'ok')
    return outcome.value === undefined ? outcome : { ...outcome, value: redactor.json(outcome.value) }
  const { message, stack, ...failure } = outcome.failure
  return {
    ...outcome,
    failure: {
      ...failure,
      message: redactor.text(message),
      ...(stack !== undefined && { stack: redactor.text(stack) }),
    },
  }
}

function redactReconciliation(outcome: ReconcileOutcome, redactor: Redactor): ReconcileOutcome {
  switch (outcome.kind) {
    case 'applied':
      return outcome.value === undefined ? outcome : { ...outcome, value: redactor.json(outcome.value) }
    case 'not_applied':
      return outcome
    case 'unknown':
      return { ...outcome, message: redactor.text(outcome.message) }
  }
}
