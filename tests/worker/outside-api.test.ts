import { describe, expect, it } from 'vitest'
import { createOutsideApi } from '#worker/outside-api.ts'
import { createMemoryKeyValue } from '#worker/tools/key-value.ts'
import { createConnections } from '#worker/tools/connections.ts'
import { createTools } from '#worker/tools/registry.ts'
import { createMemoryDirectory } from '../support/memory-directory.ts'
import { createToolKit } from '../support/tool-kit.ts'

function setUp() {
  const kit = createToolKit()
  const handles = new Map<string, FileSystemDirectoryHandle>()
  const api = createOutsideApi({
    tools: createTools(kit),
    vault: kit.vault,
    connections: createConnections(createMemoryKeyValue()),
    folders: {
      load: (name) => Promise.resolve(handles.get(name)),
      put: (name, handle) => Promise.resolve(void handles.set(name, handle)),
      remove: (name) => Promise.resolve(void handles.delete(name)),
      names: () => Promise.resolve([...handles.keys()]),
    },
    testConnection: () => Promise.resolve({ ok: false, error: 'nobody answers' }),
  })
  return { api }
}

describe('folders', () => {
  it('that the browser wants to be allowed again say so, and hand out their handle for the page to ask', async () => {
    const { api } = setUp()
    const directory = createMemoryDirectory()
    expect(await api.putFolder('reports', directory.handle)).toEqual({ ok: true, value: null })
    expect(await api.listFolders()).toEqual({ ok: true, value: [{ name: 'reports', isLocked: false }] })
    directory.setPermission('prompt')
    expect(await api.listFolders()).toEqual({ ok: true, value: [{ name: 'reports', isLocked: true }] })
    expect(await api.getFolder('reports')).toEqual({ ok: true, value: directory.handle })
    directory.setPermission('granted')
    expect(await api.listFolders()).toEqual({ ok: true, value: [{ name: 'reports', isLocked: false }] })
  })

  it('that were not picked are not found', async () => {
    expect(await setUp().api.getFolder('other')).toMatchObject({ ok: false, error: { code: 'not_found' } })
  })

  it.each(['', ' a', '../a', 'a/b', 'a:b', 'a'.repeat(65)])('cannot be called %j', async (name) => {
    const { api } = setUp()
    const put = await api.putFolder(name, createMemoryDirectory().handle)
    expect(put).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
    expect(await api.listFolders()).toEqual({ ok: true, value: [] })
  })
})

describe('locking the secrets', () => {
  it('is refused without a passphrase, which alone could open them again', async () => {
    const { api } = setUp()
    await api.putSecret({ name: 'KEY', value: 'a-long-value', hosts: ['api.example.com'] })
    expect(await api.lockSecrets()).toMatchObject({ ok: false, error: { code: 'invalid_input' } })
    expect(await api.secretsStatus()).toEqual({ ok: true, value: { isLocked: false, hasPassphrase: false } })
  })

  it('lasts until the passphrase is given', async () => {
    const { api } = setUp()
    await api.putSecret({ name: 'KEY', value: 'a-long-value', hosts: ['api.example.com'] })
    await api.setSecretsPassphrase('correct horse')
    await api.lockSecrets()
    expect(await api.secretsStatus()).toEqual({ ok: true, value: { isLocked: true, hasPassphrase: true } })
    expect(await api.unlockSecrets('wrong')).toMatchObject({ ok: false })
    expect(await api.unlockSecrets('correct horse')).toEqual({ ok: true, value: null })
    expect(await api.secretsStatus()).toMatchObject({ value: { isLocked: false } })
  })
})

it('a connection that does not answer is told in words', async () => {
  expect(await setUp().api.testConnection({ kind: 'github' })).toEqual({
    ok: false,
    error: { code: 'invalid_input', message: 'nobody answers' },
  })
})
