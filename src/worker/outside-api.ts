import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { EngineApi } from './api.ts'
import { parseKnobs } from './tools/demo/knobs.ts'
import type { OpenTools } from './tools/open-tools.ts'

type OutsideApi = Pick<
  EngineApi,
  | 'listTools'
  | 'listSecrets'
  | 'putSecret'
  | 'removeSecret'
  | 'secretsStatus'
  | 'setSecretsPassphrase'
  | 'unlockSecrets'
  | 'getConnections'
  | 'setConnections'
  | 'listFolders'
  | 'putFolder'
  | 'removeFolder'
  | 'demoSnapshot'
  | 'setDemoKnobs'
  | 'setDemoPace'
  | 'deliverDemoMail'
  | 'resetDemo'
>

/** What the user sets up of the outside world: secrets, services, folders, and the demo world's weather. */
export function createOutsideApi({ tools, vault, connections, folders }: OpenTools): OutsideApi {
  return {
    listTools: () =>
      answer(
        tools
          .list()
          .map(({ namespace, method, kind, title, doc }) => ({ name: `${namespace}.${method}`, kind, title, ...doc })),
      ),
    listSecrets: async () => ok(await vault.list()),
    putSecret: async (secret) => inWords(await vault.put(secret)),
    removeSecret: (name) => done(vault.remove(name)),
    secretsStatus: async () => ok({ isLocked: await vault.isLocked(), hasPassphrase: await vault.hasPassphrase() }),
    setSecretsPassphrase: async (passphrase) => inWords(await vault.setPassphrase(passphrase)),
    unlockSecrets: async (passphrase) => inWords(await vault.unlock(passphrase)),
    getConnections: async () => ok({ llm: [...(await connections.llm())], github: await connections.github() }),
    setConnections: async (change) => {
      if (change.llm !== undefined) {
        const done = await connections.setLlm(change.llm)
        if (!done.ok) return inWords(done)
      }
      return change.github === undefined ? ok(null) : inWords(await connections.setGithub(change.github))
    },
    listFolders: async () => ok(await folders.names()),
    putFolder: (name, handle) => done(folders.put(name, handle)),
    removeFolder: (name) => done(folders.remove(name)),
    demoSnapshot: async () => ok(await tools.demo.snapshot()),
    setDemoKnobs: async (knobs) => {
      try {
        parseKnobs(knobs)
      } catch (error) {
        return inWords(err(error instanceof Error ? error.message : String(error)))
      }
      return ok(await tools.demo.setKnobs(knobs))
    },
    setDemoPace: (everyMs) => done(tools.demo.setPace(everyMs)),
    deliverDemoMail: async (mail) => ok(await tools.demo.deliver(mail)),
    resetDemo: () => done(tools.demo.reset()),
  }
}

const done = async (work: Promise<unknown>): Promise<Result<null>> => {
  await work
  return ok(null)
}

const answer = <T>(value: T): Promise<Result<T>> => Promise.resolve(ok(value))

const inWords = <T>(result: Result<T, string>): Result<T> =>
  result.ok ? result : err(engineError('invalid_input', result.error))
