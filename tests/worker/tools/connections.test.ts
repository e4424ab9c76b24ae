import { IDBFactory } from 'fake-indexeddb'
import { describe, expect, it } from 'vitest'
import { createConnections } from '#worker/tools/connections.ts'
import { createPickedHandles } from '#worker/tools/files/picked-handles.ts'
import { createMemoryKeyValue } from '#worker/tools/key-value.ts'

const LOCAL = { name: 'local', provider: 'openai', baseUrl: 'http://localhost:11434/v1', model: 'small' }

describe('connections', () => {
  it('are kept, in the order in which they were given', async () => {
    const storage = createMemoryKeyValue()
    expect(await createConnections(storage).setLlm([LOCAL, { ...LOCAL, name: 'other' }])).toMatchObject({ ok: true })
    expect(await createConnections(storage).llm()).toMatchObject([{ name: 'local', inputPrice: 0 }, { name: 'other' }])
  })

  it('are none, and GitHub without a token, before anything was set up', async () => {
    const connections = createConnections(createMemoryKeyValue())
    expect(await connections.llm()).toEqual([])
    expect(await connections.github()).toEqual({ baseUrl: 'https://api.github.com' })
  })

  it('to GitHub name the secret, never the token itself', async () => {
    const connections = createConnections(createMemoryKeyValue())
    const settings = { baseUrl: 'https://github.example/api/v3', token: 'secret:GITHUB_TOKEN' }
    expect(await connections.setGithub(settings)).toMatchObject({ ok: true })
    expect(await connections.github()).toEqual(settings)
    expect(await connections.setGithub({ ...settings, token: 'ghp_123' })).toEqual({
      ok: false,
      error: 'token: must be written as secret:NAME',
    })
    expect(await connections.github()).toEqual(settings)
  })

  it('of one name twice are refused, and the old ones stay', async () => {
    const connections = createConnections(createMemoryKeyValue())
    await connections.setLlm([LOCAL])
    expect(await connections.setLlm([LOCAL, LOCAL])).toMatchObject({ ok: false })
    expect(await connections.llm()).toHaveLength(1)
  })

  it('that an older version wrote and nobody understands any more count as none', async () => {
    const storage = createMemoryKeyValue()
    await storage.update('llm', () => '[{"old":true}]')
    expect(await createConnections(storage).llm()).toEqual([])
  })
})

describe('picked folders', () => {
  it('are remembered by name until they are removed', async () => {
    const factory = new IDBFactory()
    const open = () => createPickedHandles('folders', factory)
    // Any value that can be cloned stands for a handle here.
    const handle = { name: 'Reports' } as FileSystemDirectoryHandle
    await open().put('reports', handle)
    expect(await open().load('reports')).toEqual(handle)
    expect(await open().names()).toEqual(['reports'])
    await open().remove('reports')
    expect(await open().load('reports')).toBeUndefined()
  })
})
