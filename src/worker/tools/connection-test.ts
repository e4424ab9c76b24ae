import type { Json } from '#engine/model/json.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { ToolOutcome, Tools } from '#engine/ports/tools.ts'
import type { ConnectionName } from '../api.ts'
import { createGithubClient, type GithubSettings } from './github/github-client.ts'
import type { HttpDeps } from './http/deps.ts'

export type TestConnection = (which: ConnectionName) => Promise<Result<{ message: string }, string>>

interface TestParts extends HttpDeps {
  find: Tools['find']
  github: () => Promise<GithubSettings>
}

/** Asks in the very way that scripts do, so that what works here works there: same key, same limits, same words. */
export function createConnectionTest(parts: TestParts): TestConnection {
  const client = createGithubClient(parts)
  const call = () => ({
    workflowId: '',
    handlerRunId: '',
    idempotencyKey: null,
    signal: new AbortController().signal,
  })

  async function askModel(connection: string): Promise<Result<{ message: string }, string>> {
    const tool = parts.find('llm', 'text')
    const prompt = 'This is a test of the connection. Answer with the word ok.'
    const params = tool?.parse([{ connection, prompt, maxTokens: 16, timeout: 30_000 }])
    if (!tool || !params) return err('There is no tool for language models.')
    if (!params.ok) return err(params.error)
    const outcome = await tool.call(params.value, call())
    return outcome.kind === 'failed' ? failureOf(outcome) : ok({ message: `${modelOf(outcome.value)} answered.` })
  }

  async function askGithub(): Promise<Result<{ message: string }, string>> {
    // Every token may ask for it, whatever else it may do.
    const answer = await client.get('/rate_limit', {}, call())
    if (!answer.ok) return failureOf(answer.outcome)
    const { token } = await parts.github()
    const words = token === undefined ? 'Without a token only public things can be read.' : 'It knows the token.'
    return ok({ message: `GitHub answered. ${words}` })
  }

  return async (which) => {
    const found = which.kind === 'llm' ? await askModel(which.name) : await askGithub()
    return found.ok ? found : err((await parts.vault.redactor()).text(found.error))
  }
}

const failureOf = (outcome: ToolOutcome): Result<never, string> =>
  err(outcome.kind === 'failed' ? outcome.failure.message : 'The service gave no answer that could be read.')

const modelOf = (value: Json | undefined): string => {
  const model = typeof value === 'object' && value !== null && !Array.isArray(value) ? value['model'] : undefined
  return typeof model === 'string' ? model : 'The model'
}
