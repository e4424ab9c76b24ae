import type { FailureType } from '#engine/model/errors.ts'
import { err, ok, type Result } from '#engine/model/result.ts'
import type { SecretAnswer, Vault } from './vault.ts'

/** `secret:NAME`, as a whole or inside of a text: `Bearer secret:GITHUB_TOKEN`. */
const PLACEHOLDER = /\bsecret:([A-Za-z][A-Za-z0-9_]{0,63})/g

export interface SecretProblem {
  type: FailureType
  message: string
}

/** Puts the values in, if all of them are there and may go to this address. Nothing has been sent when one is not. */
export async function fillIn(text: string, url: URL, vault: Vault): Promise<Result<string, SecretProblem>> {
  const values = new Map<string, string>()
  for (const [, name = ''] of text.matchAll(PLACEHOLDER)) {
    const answer = await vault.resolve(name, url)
    if (answer.kind !== 'value') return err({ type: 'auth', message: explain(name, url, answer) })
    values.set(name, answer.value)
  }
  return ok(text.replace(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole))
}

export const hasPlaceholder = (text: string): boolean => text.search(PLACEHOLDER) !== -1

function explain(name: string, url: URL, answer: Exclude<SecretAnswer, { kind: 'value' }>): string {
  switch (answer.kind) {
    case 'missing':
      return `There is no secret ${name}. Add it under Settings, Connections and secrets, then retry.`
    case 'locked':
      return `The secret ${name} is locked. Enter your passphrase under Settings, Connections and secrets, then retry.`
    case 'wrong_host':
      return (
        `The secret ${name} may go only to ${answer.hosts.join(', ')}, not to ${url.host}. ` +
        'If that is right, enter the secret again with this host under Settings, Connections and secrets.'
      )
    case 'broken':
      return `The secret ${name} cannot be read any more. Enter it again under Settings, Connections and secrets.`
  }
}
