import * as v from 'valibot'
import { createMemoryVaultStorage } from '#worker/secrets/vault-storage.ts'
import { createVault } from '#worker/secrets/vault.ts'
import { createPickedFolders } from '#worker/tools/files/folder.ts'
import type { HttpDeps } from '#worker/tools/http/deps.ts'
import { createMemoryKeyValue } from '#worker/tools/key-value.ts'
import { llmConnectionSchema } from '#worker/tools/llm/connection.ts'
import type { NotificationRequest } from '#worker/tools/notify.ts'
import type { ToolDeps } from '#worker/tools/registry.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'
import { createMemoryDirectory, type MemoryDirectory } from './memory-directory.ts'

export interface HttpKit extends HttpDeps {
  clock: HandClock
}

/** What tools that talk HTTP are given in tests: the real fetch, time by hand, an empty vault. */
export function createHttpKit(): HttpKit {
  const clock = createHandClock()
  const vault = createVault({ storage: createMemoryVaultStorage(), now: () => clock.now(), iterations: 1_000 })
  return { fetch: globalThis.fetch, clock, vault, isOnline: () => true }
}

export interface ToolKit extends ToolDeps {
  clock: HandClock
  directory: MemoryDirectory
  shown: NotificationRequest[]
  copied: string[]
}

/** Everything that createTools wants, with a platform of which the test sees what was done to it. */
export function createToolKit(servers: { llmUrl?: string; githubUrl?: string } = {}): ToolKit {
  const http = createHttpKit()
  const { llmUrl = 'https://llm.example.com/v1', githubUrl = 'https://api.github.com' } = servers
  const directory = createMemoryDirectory()
  const shown: NotificationRequest[] = []
  const copied: string[] = []
  const connection = v.parse(llmConnectionSchema, { name: 'mine', provider: 'openai', baseUrl: llmUrl, model: 'small' })
  return {
    ...http,
    directory,
    shown,
    copied,
    demo: { clock: http.clock, storage: createMemoryKeyValue(), seed: 'seed' },
    notifier: {
      permission: () => 'granted',
      show: (request) => {
        shown.push(request)
        return Promise.resolve()
      },
    },
    clipboard: {
      writeText: (text) => {
        copied.push(text)
        return Promise.resolve()
      },
    },
    folders: createPickedFolders((name) => Promise.resolve(name === 'reports' ? directory.handle : undefined)),
    fileJournal: createMemoryKeyValue(),
    llm: { connections: () => Promise.resolve([connection]) },
    github: () => Promise.resolve({ baseUrl: githubUrl, token: 'secret:GITHUB_TOKEN' }),
  }
}

export const finderOf = <Method extends { namespace: string; method: string }>(methods: readonly Method[]) => ({
  find: (namespace: string, method: string): Method | undefined =>
    methods.find((candidate) => candidate.namespace === namespace && candidate.method === method),
})
