import * as v from 'valibot'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { GithubSettings } from './github/github-client.ts'
import { readAddress } from './http/address.ts'
import type { KeyValue } from './key-value.ts'
import { llmConnectionSchema, type LlmConnection } from './llm/connection.ts'

const githubSchema = v.strictObject({
  baseUrl: v.pipe(
    v.string(),
    v.check((text) => readAddress(text).ok, 'must be an https:// address'),
  ),
  token: v.exactOptional(v.pipe(v.string(), v.regex(/^secret:[A-Za-z]\w*$/, 'must be written as secret:NAME'))),
})

const DEFAULT_GITHUB: GithubSettings = { baseUrl: 'https://api.github.com' }

/** The services the user has set up. Keys are only named here; their values are in the vault. */
export interface Connections {
  llm(): Promise<readonly LlmConnection[]>
  /** Replaces the list; the first one is used when a script names none. */
  setLlm(connections: unknown): Promise<Result<null, string>>
  github(): Promise<GithubSettings>
  setGithub(settings: unknown): Promise<Result<null, string>>
}

export function createConnections(storage: KeyValue): Connections {
  const read = async <T>(key: string, schema: v.GenericSchema<unknown, T>, otherwise: T): Promise<T> => {
    const text = await storage.get(key)
    const parsed = text === undefined ? undefined : v.safeParse(schema, JSON.parse(text))
    return parsed?.success ? parsed.output : otherwise
  }
  const write = async (key: string, schema: v.GenericSchema, value: unknown): Promise<Result<null, string>> => {
    const parsed = v.safeParse(schema, value)
    if (!parsed.success)
      return err(parsed.issues.map((issue) => `${v.getDotPath(issue) ?? key}: ${issue.message}`).join('; '))
    await storage.update(key, () => JSON.stringify(parsed.output))
    return ok(null)
  }
  const llmSchema = v.pipe(
    v.array(llmConnectionSchema),
    v.check((list) => new Set(list.map(({ name }) => name)).size === list.length, 'two connections have the same name'),
  )
  return {
    llm: () => read('llm', llmSchema, []),
    setLlm: (connections) => write('llm', llmSchema, connections),
    github: () => read('github', githubSchema, DEFAULT_GITHUB),
    setGithub: (settings) => write('github', githubSchema, settings),
  }
}
