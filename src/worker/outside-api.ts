import { engineError } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { EngineApi } from './api.ts'
import { parseKnobs } from './tools/demo/knobs.ts'
import { FOLDER_NAME_RULE, isFolderName, isLocked } from './tools/files/folder.ts'
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
  | 'lockSecrets'
  | 'getConnections'
  | 'setConnections'
  | 'testConnection'
  | 'listFolders'
  | 'getFolder'
  | 'putFolder'
  | 'removeFolder'
  | 'demoSnapshot'
  | 'setDemoKnobs'
  | 'setDemoPace'
  | 'deliverDemoMail'
  | 'resetDemo'
>

/** What the user sets up of the outside world: secrets, services, folders, and the demo world's weather. */
export function createOutsideApi({ tools, vault, connections, folders, testConnection }: OpenTools): OutsideApi {
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
    lockSecrets: async () => {
      if (!(await vault.hasPassphrase())) {
        return inWords(err('Set a passphrase first: without one the key of this device opens the secrets at any time.'))
      }
      vault.lock()
      return ok(null)
    },
    getConnections: async () => ok({ llm: [...(await connections.llm())], github: await connections.github() }),
    setConnections: async (change) => {
      if (change.llm !== undefined) {
        const done = await connections.setLlm(change.llm)
        if (!done.ok) return inWords(done)
      }
      return change.github === undefined ? ok(null) : inWords(await connections.setGithub(change.github))
    },
    testConnection: async (which) => inWords(await testConnection(which)),
    listFolders: async () => {
      const named = await Promise.all(
        (await folders.names()).map(async (name) => ({ name, handle: await folders.load(name) })),
      )
      const known = named.flatMap(({ name, handle }) => (handle ? [{ name, handle }] : []))
      return ok(await Promise.all(known.map(async ({ name, handle }) => ({ name, isLocked: await isLocked(handle) }))))
    },
    getFolder: async (name) => {
      const handle = await folders.load(name)
      return handle ? ok(handle) : err(engineError('not_found', `No folder "${name}" has been picked.`))
    },
    putFolder: async (name, handle) =>
      isFolderName(name) ? done(folders.put(name, handle)) : inWords(err(`"${name}" ${FOLDER_NAME_RULE}`)),
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
