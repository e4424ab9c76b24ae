import { IDBFactory } from 'fake-indexeddb'
import { describe, expect, it } from 'vitest'
import { fillIn, hasPlaceholder } from '#worker/secrets/placeholders.ts'
import {
  createIndexedDbVaultStorage,
  createMemoryVaultStorage,
  type VaultStorage,
} from '#worker/secrets/vault-storage.ts'
import { createVault, PASSPHRASE_ITERATIONS } from '#worker/secrets/vault.ts'

const VALUE = 'ghp_aVerySecretToken123'
const TOKEN = { name: 'TOKEN', value: VALUE, hosts: ['api.example.com'] }
const HOME = new URL('https://api.example.com/x')

/** The high cost of a real passphrase is checked on its own; everything else need not wait for it. */
const open = (storage: VaultStorage) => createVault({ storage, now: () => 1, iterations: 1_000 })
const setUp = () => {
  const storage = createMemoryVaultStorage()
  return { storage, vault: open(storage) }
}

describe.each<[string, () => VaultStorage]>([
  ['in memory', createMemoryVaultStorage],
  ['in IndexedDB', () => createIndexedDbVaultStorage('vault', new IDBFactory())],
])('secrets kept %s', (_kind, createStorage) => {
  it('can be used after a restart, with a key that cannot be taken out of the browser', async () => {
    const storage = createStorage()
    await open(storage).put(TOKEN)
    expect(await open(storage).resolve('TOKEN', HOME)).toEqual({ kind: 'value', value: VALUE })
    const document = await storage.read()
    expect(document?.lock).toMatchObject({ kind: 'device', key: { extractable: false } })
  })

  it('are nowhere in what is stored', async () => {
    const storage = createStorage()
    await open(storage).put(TOKEN)
    const stored = JSON.stringify(await storage.read(), (_key, value: unknown) =>
      value instanceof ArrayBuffer ? new TextDecoder('latin1').decode(value) : value,
    )
    expect(stored).toContain('TOKEN')
    expect(stored).not.toContain(VALUE)
    expect(stored).not.toContain(btoa(VALUE))
  })
})

describe('a secret', () => {
  it('is shown by name and hosts only', async () => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    expect(await vault.list()).toEqual([{ name: 'TOKEN', hosts: ['api.example.com'], createdAt: 1 }])
  })

  it.each([
    'https://evil.example/',
    'https://api.example.com@evil.example/',
    'https://api.example.com.evil.example/',
    'https://api.example.com:8443/',
    'https://sub.api.example.com/',
  ])('does not go to %s when it is bound to api.example.com', async (address) => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    expect(await vault.resolve('TOKEN', new URL(address))).toEqual({ kind: 'wrong_host', hosts: ['api.example.com'] })
  })

  it('cannot be opened when its hosts were changed behind our back', async () => {
    const { storage, vault } = setUp()
    await vault.put(TOKEN)
    const document = await storage.read()
    if (!document) throw new Error('nothing was stored')
    const secrets = document.secrets.map((secret) => ({ ...secret, hosts: ['evil.example'] }))
    await storage.write({ ...document, secrets })
    expect(await vault.resolve('TOKEN', new URL('https://evil.example/'))).toEqual({ kind: 'broken' })
  })

  it('is gone when it is removed', async () => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    await vault.remove('TOKEN')
    expect(await vault.resolve('TOKEN', HOME)).toEqual({ kind: 'missing' })
    expect(await vault.list()).toEqual([])
  })

  it('replaces the one of the same name', async () => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    await vault.put({ ...TOKEN, value: 'another-value' })
    expect(await vault.resolve('TOKEN', HOME)).toEqual({ kind: 'value', value: 'another-value' })
    expect(await vault.list()).toHaveLength(1)
  })

  it('is not lost when several are put at once', async () => {
    const { vault } = setUp()
    await Promise.all(['A', 'B', 'C', 'D'].map((name) => vault.put({ ...TOKEN, name })))
    expect((await vault.list()).map(({ name }) => name)).toEqual(['A', 'B', 'C', 'D'])
  })

  it.each([
    [{ name: '1x' }, '"1x" cannot be the name of a secret'],
    [{ name: '' }, '"" cannot be the name of a secret'],
    [{ value: 'short' }, 'A secret needs at least 8 characters'],
    [{ value: 'with a space' }, 'only visible ASCII'],
    [{ value: 'line\nend-value' }, 'only visible ASCII'],
    [{ value: 'x'.repeat(8_193) }, 'at most 8192'],
    [{ hosts: [] }, 'Say which hosts'],
    [{ hosts: ['*'] }, '"*" is not a host'],
    [{ hosts: ['https://api.example.com/'] }, 'is not a host a secret can be bound to'],
  ])('is refused with a reason when it is %o', async (change, reason) => {
    const { vault } = setUp()
    const result = await vault.put({ ...TOKEN, ...change })
    expect(result.ok ? '' : result.error).toContain(reason)
    expect(await vault.list()).toEqual([])
  })
})

describe('a passphrase', () => {
  it('locks the secrets for whoever comes next without it', async () => {
    const { storage, vault } = setUp()
    await vault.put(TOKEN)
    await vault.setPassphrase('correct horse')
    expect(await vault.resolve('TOKEN', HOME)).toEqual({ kind: 'value', value: VALUE })

    const next = open(storage)
    expect(await next.isLocked()).toBe(true)
    expect(await next.hasPassphrase()).toBe(true)
    expect(await next.resolve('TOKEN', HOME)).toEqual({ kind: 'locked' })
    expect(await next.put({ ...TOKEN, name: 'OTHER' })).toMatchObject({ ok: false })
    expect(await next.setPassphrase('another horse')).toMatchObject({ ok: false })
    expect(await next.unlock('wrong horse')).toMatchObject({ ok: false })
    expect(await next.isLocked()).toBe(true)
    expect(await next.unlock('correct horse')).toMatchObject({ ok: true })
    expect(await next.resolve('TOKEN', HOME)).toEqual({ kind: 'value', value: VALUE })
    next.lock()
    expect(await next.resolve('TOKEN', HOME)).toEqual({ kind: 'locked' })
  })

  it('leaves no key behind in the storage', async () => {
    const { storage, vault } = setUp()
    await vault.put(TOKEN)
    await vault.setPassphrase('correct horse')
    expect((await storage.read())?.lock).not.toHaveProperty('key')
  })

  it('can be changed and taken away again, and the secrets stay', async () => {
    const { storage, vault } = setUp()
    await vault.put(TOKEN)
    await vault.setPassphrase('correct horse')
    await vault.setPassphrase('another horse')
    expect(await open(storage).unlock('correct horse')).toMatchObject({ ok: false })
    await vault.setPassphrase(null)
    expect(await open(storage).resolve('TOKEN', HOME)).toEqual({ kind: 'value', value: VALUE })
  })

  it('must not be short', async () => {
    expect(await setUp().vault.setPassphrase('short')).toMatchObject({ ok: false })
  })

  it('costs an attacker at least what OWASP asks for', async () => {
    expect(PASSPHRASE_ITERATIONS).toBeGreaterThanOrEqual(600_000)
    const storage = createMemoryVaultStorage()
    await createVault({ storage, now: () => 1 }).setPassphrase('correct horse')
    expect((await storage.read())?.lock).toMatchObject({ kind: 'passphrase', iterations: PASSPHRASE_ITERATIONS })
  })
})

describe('secret:NAME', () => {
  it('is filled in wherever it stands in a text', async () => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    expect(await fillIn('Bearer secret:TOKEN', HOME, vault)).toEqual({ ok: true, value: `Bearer ${VALUE}` })
    expect(await fillIn('secret:TOKEN/secret:TOKEN', HOME, vault)).toEqual({ ok: true, value: `${VALUE}/${VALUE}` })
    expect(await fillIn('no secrets here', HOME, vault)).toEqual({ ok: true, value: 'no secrets here' })
    expect(hasPlaceholder('Bearer secret:TOKEN')).toBe(true)
    expect(hasPlaceholder('Bearer topsecret:')).toBe(false)
  })

  it('is not filled in twice when a value looks like a name', async () => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    await vault.put({ ...TOKEN, name: 'TRICK', value: 'secret:TOKEN' })
    expect(await fillIn('secret:TRICK', HOME, vault)).toEqual({ ok: true, value: 'secret:TOKEN' })
  })

  it.each([
    ['secret:OTHER', HOME, 'There is no secret OTHER'],
    ['secret:TOKEN', new URL('https://evil.example/'), 'The secret TOKEN may go only to api.example.com'],
  ])('%s asks the user when it cannot be used at %s', async (text, url, reason) => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    const result = await fillIn(text, url, vault)
    expect(result).toMatchObject({ ok: false, error: { type: 'auth' } })
    expect(result.ok ? '' : result.error.message).toContain(reason)
  })

  it('asks for the passphrase while the secrets are locked', async () => {
    const { storage, vault } = setUp()
    await vault.put(TOKEN)
    await vault.setPassphrase('correct horse')
    const result = await fillIn('secret:TOKEN', HOME, open(storage))
    expect(result.ok ? '' : result.error.message).toContain('Enter your passphrase')
  })
})

describe('redaction', () => {
  const awkward = 'a+b/"c"\\d=&e'

  it.each([
    ['as it is', (value: string) => `token ${value}!`],
    ['in an address', (value: string) => `https://x/?t=${encodeURIComponent(value)}`],
    ['in JSON', (value: string) => JSON.stringify({ value })],
    ['in base64', (value: string) => btoa(value)],
  ])('takes a secret out %s', async (_how, write) => {
    const { vault } = setUp()
    await vault.put({ ...TOKEN, value: awkward })
    const redactor = await vault.redactor()
    const text = redactor.text(write(awkward))
    expect(text).toContain('[secret TOKEN]')
    expect(text).not.toContain(awkward)
  })

  it('reaches into keys and values of JSON', async () => {
    const { vault } = setUp()
    await vault.put(TOKEN)
    const redactor = await vault.redactor()
    expect(redactor.json({ [VALUE]: [1, null, { echo: `Bearer ${VALUE}` }] })).toEqual({
      '[secret TOKEN]': [1, null, { echo: 'Bearer [secret TOKEN]' }],
    })
  })

  it('knows secrets that were stored in an earlier life and not used since', async () => {
    const { storage, vault } = setUp()
    await vault.put(TOKEN)
    expect((await open(storage).redactor()).text(VALUE)).toBe('[secret TOKEN]')
  })

  it('knows a locked secret as soon as it is unlocked', async () => {
    const { storage, vault } = setUp()
    await vault.put(TOKEN)
    await vault.setPassphrase('correct horse')
    const next = open(storage)
    expect((await next.redactor()).text(VALUE)).toBe(VALUE)
    await next.unlock('correct horse')
    expect((await next.redactor()).text(VALUE)).toBe('[secret TOKEN]')
  })

  it('replaces the longer one of two secrets of which one contains the other', async () => {
    const { vault } = setUp()
    await vault.put({ ...TOKEN, name: 'SHORT', value: 'abcdefgh' })
    await vault.put({ ...TOKEN, name: 'LONG', value: 'abcdefgh-ijk' })
    expect((await vault.redactor()).text('abcdefgh-ijk abcdefgh')).toBe('[secret LONG] [secret SHORT]')
  })
})
