import { err, ok, type Result } from '#engine/model/result.ts'
import { describePermission, isHostAmong } from '../tools/permissions.ts'
import { createRedactor, type Redactor } from './redactor.ts'
import { createDeviceLock, createPassphraseLock, openLock, seal, unseal } from './sealing.ts'
import type { SealedSecret, VaultDocument, VaultStorage } from './vault-storage.ts'

/** What may be shown of a secret: never its value. */
export interface SecretInfo {
  name: string
  hosts: string[]
  createdAt: number
}

export type SecretAnswer =
  | { kind: 'value'; value: string }
  | { kind: 'missing' }
  | { kind: 'locked' }
  | { kind: 'wrong_host'; hosts: string[] }
  /** Tampered with, or sealed by a key that is gone. */
  | { kind: 'broken' }

export interface Vault {
  list(): Promise<SecretInfo[]>
  /** Replaces a secret of the same name. */
  put(secret: { name: string; value: string; hosts: readonly string[] }): Promise<Result<SecretInfo, string>>
  remove(name: string): Promise<void>
  isLocked(): Promise<boolean>
  hasPassphrase(): Promise<boolean>
  /** Seals everything anew; null goes back to the key of this device. */
  setPassphrase(passphrase: string | null): Promise<Result<null, string>>
  unlock(passphrase: string): Promise<Result<null, string>>
  lock(): void
  /** For tools, at the last moment before sending to this address. */
  resolve(name: string, url: URL): Promise<SecretAnswer>
  /** Knows every value that could be opened. */
  redactor(): Promise<Redactor>
}

export interface VaultDeps {
  storage: VaultStorage
  now: () => number
  iterations?: number
}

/** Above what OWASP asks of PBKDF2 with SHA-256; a quarter of a second to half a second on an ordinary laptop. */
export const PASSPHRASE_ITERATIONS = 1_000_000
const MIN_PASSPHRASE = 8
/** What is shorter would turn up by chance in ordinary text and could not be kept out of it. */
const MIN_VALUE = 8
const MAX_VALUE = 8_192

const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/

export function createVault({ storage, now, iterations = PASSPHRASE_ITERATIONS }: VaultDeps): Vault {
  const redactor = createRedactor()
  let key: CryptoKey | undefined
  let isRedactorFilled = false

  /** One change at a time: sealing takes turns of the event loop between reading and writing. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  async function read(): Promise<VaultDocument | undefined> {
    const document = await storage.read()
    if (document?.lock.kind === 'device') key = document.lock.key
    return document
  }

  async function openOrCreate(): Promise<{ document: VaultDocument; key: CryptoKey } | undefined> {
    const existing = await read()
    if (existing) return key && { document: existing, key }
    const [lock, created] = await createDeviceLock()
    const document = { lock, secrets: [] }
    await storage.write(document)
    key = created
    return { document, key: created }
  }

  async function reseal(passphrase: string | null): Promise<Result<null, string>> {
    const opened = await openOrCreate()
    if (!opened) return err('Unlock the secrets with the current passphrase first.')
    const [lock, newKey] =
      passphrase === null ? await createDeviceLock() : await createPassphraseLock(passphrase, iterations)
    const secrets: SealedSecret[] = []
    for (const secret of opened.document.secrets) {
      const value = await unseal(opened.key, secret.value, labelOf(secret))
      if (value === undefined)
        return err(`The secret ${secret.name} cannot be read any more. Remove it, then try again.`)
      secrets.push({ ...secret, value: await seal(newKey, value, labelOf(secret)) })
    }
    await storage.write({ lock, secrets })
    key = newKey
    return ok(null)
  }

  return {
    async list() {
      const document = await read()
      return (document?.secrets ?? []).map(infoOf).sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    put: ({ name, value, hosts }) =>
      inTurn(async () => {
        const problem = problemWith(name, value, hosts)
        if (problem !== undefined) return err(problem)
        const opened = await openOrCreate()
        if (!opened) return err('Unlock the secrets with your passphrase first.')
        const bound = { name, hosts: [...hosts], createdAt: now() }
        const secret = { ...bound, value: await seal(opened.key, value, labelOf(bound)) }
        const others = opened.document.secrets.filter((other) => other.name !== name)
        await storage.write({ ...opened.document, secrets: [...others, secret] })
        redactor.hide(name, value)
        return ok(infoOf(secret))
      }),

    remove: (name) =>
      inTurn(async () => {
        const document = await read()
        if (!document) return
        await storage.write({ ...document, secrets: document.secrets.filter((secret) => secret.name !== name) })
      }),

    isLocked: async () => {
      const document = await read()
      return document !== undefined && key === undefined
    },
    hasPassphrase: async () => (await read())?.lock.kind === 'passphrase',

    setPassphrase: (passphrase) =>
      inTurn(async () => {
        if (passphrase !== null && passphrase.length < MIN_PASSPHRASE) {
          return err(`A passphrase needs at least ${MIN_PASSPHRASE} characters. Four or more random words are better.`)
        }
        return reseal(passphrase)
      }),

    unlock: (passphrase) =>
      inTurn(async () => {
        const document = await read()
        if (!document) return ok(null)
        const opened = await openLock(document.lock, passphrase)
        if (!opened) return err('This is not the passphrase that the secrets were locked with.')
        key = opened
        isRedactorFilled = false
        return ok(null)
      }),

    lock() {
      key = undefined
    },

    async resolve(name, url) {
      const document = await read()
      const secret = document?.secrets.find((candidate) => candidate.name === name)
      if (!secret) return { kind: 'missing' }
      if (!isHostAmong(secret.hosts, url)) return { kind: 'wrong_host', hosts: secret.hosts }
      if (!key) return { kind: 'locked' }
      const value = await unseal(key, secret.value, labelOf(secret))
      if (value === undefined) return { kind: 'broken' }
      redactor.hide(name, value)
      return { kind: 'value', value }
    },

    async redactor() {
      if (isRedactorFilled) return redactor
      const document = await read()
      if (!document || !key) return redactor
      for (const secret of document.secrets) {
        const value = await unseal(key, secret.value, labelOf(secret))
        if (value !== undefined) redactor.hide(secret.name, value)
      }
      isRedactorFilled = true
      return redactor
    },
  }
}

const labelOf = ({ name, hosts }: Pick<SealedSecret, 'name' | 'hosts'>): string => JSON.stringify([name, hosts])
const infoOf = ({ name, hosts, createdAt }: SealedSecret): SecretInfo => ({ name, hosts: [...hosts], createdAt })

function problemWith(name: string, value: string, hosts: readonly string[]): string | undefined {
  if (!SECRET_NAME.test(name)) {
    return `"${name}" cannot be the name of a secret: use letters, digits and _, beginning with a letter, at most 64.`
  }
  if (value.length < MIN_VALUE)
    return `A secret needs at least ${MIN_VALUE} characters, or it could not be kept out of logs.`
  if (value.length > MAX_VALUE) return `A secret may have at most ${MAX_VALUE} characters.`
  // It goes into headers, where anything else could smuggle in a second header or be dropped by the browser.
  if (!/^[\x21-\x7e]+$/.test(value)) return 'A secret may hold only visible ASCII characters: no spaces, no line ends.'
  if (hosts.length === 0) return 'Say which hosts the secret may be sent to, such as api.example.com.'
  const bad = hosts.find((host) => host === '*' || describePermission(`http:${host}`) === undefined)
  return bad === undefined
    ? undefined
    : `"${bad}" is not a host a secret can be bound to. Write it like api.example.com.`
}
