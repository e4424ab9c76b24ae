import { describe, expect, it } from 'vitest'
import type { Json } from '#engine/model/json.ts'
import { createFileTools } from '#worker/tools/files/file-tools.ts'
import { createPickedFolders } from '#worker/tools/files/folder.ts'
import { createMemoryKeyValue } from '#worker/tools/key-value.ts'
import { callTool, methodOf, paramsOf, toolCall, valueOf } from '../../../support/call-tool.ts'
import { createMemoryDirectory } from '../../../support/memory-directory.ts'
import { finderOf } from '../../../support/tool-kit.ts'

const FOLDER = 'reports'
const BEGUN_AT = 1_000

function setUp(files: Record<string, string> = {}) {
  const directory = createMemoryDirectory()
  for (const [path, text] of Object.entries(files)) directory.put(path, text)
  const folders = createPickedFolders((name) => Promise.resolve(name === FOLDER ? directory.handle : undefined))
  const tools = finderOf(createFileTools({ folders, journal: createMemoryKeyValue(), now: () => BEGUN_AT }))
  const reconcile = (op: string, params: Json, attemptedAt = BEGUN_AT) =>
    methodOf(tools, op).reconcile?.(paramsOf(tools, op, params), toolCall({ idempotencyKey: 'k1', attemptedAt }))
  return { directory, tools, reconcile }
}

interface Mutation {
  op: string
  params: Json
  files: Record<string, string>
  after: Record<string, string>
}
const mutations: Mutation[] = [
  { op: 'files.write', params: { folder: FOLDER, path: 'a.txt', text: 'new' }, files: {}, after: { 'a.txt': 'new' } },
  {
    op: 'files.write',
    params: { folder: FOLDER, path: 'a.txt', text: 'new' },
    files: { 'a.txt': 'old' },
    after: { 'a.txt': 'new' },
  },
  { op: 'files.append', params: { folder: FOLDER, path: 'a.txt', text: '+' }, files: {}, after: { 'a.txt': '+' } },
  {
    op: 'files.append',
    params: { folder: FOLDER, path: 'a.txt', text: '+' },
    files: { 'a.txt': 'old' },
    after: { 'a.txt': 'old+' },
  },
  {
    op: 'files.move',
    params: { folder: FOLDER, path: 'a.txt', to: 'done/b.txt' },
    files: { 'a.txt': 'old' },
    after: { 'done/b.txt': 'old' },
  },
  { op: 'files.remove', params: { folder: FOLDER, path: 'a.txt' }, files: { 'a.txt': 'old' }, after: {} },
]

describe('reading files', () => {
  it('lists, looks at and reads what is in the folder', async () => {
    const { tools } = setUp({ 'b.txt': 'two', 'a/x.txt': 'one' })
    expect(await valueOf(tools, 'files.list', [{ folder: FOLDER }])).toEqual([
      { name: 'a', kind: 'folder' },
      { name: 'b.txt', kind: 'file' },
    ])
    expect(await valueOf(tools, 'files.list', [{ folder: FOLDER, path: 'a' }])).toEqual([
      { name: 'x.txt', kind: 'file' },
    ])
    expect(await valueOf(tools, 'files.stat', [{ folder: FOLDER, path: 'a/x.txt' }])).toEqual({
      kind: 'file',
      size: 3,
      modifiedAt: '2026-01-05T00:00:00.000Z',
    })
    expect(await valueOf(tools, 'files.stat', [{ folder: FOLDER, path: 'a' }])).toMatchObject({ kind: 'folder' })
    expect(await valueOf(tools, 'files.stat', [{ folder: FOLDER, path: 'none' }])).toBeNull()
    expect(await valueOf(tools, 'files.read', [{ folder: FOLDER, path: 'a/x.txt' }])).toBe('one')
    expect(await valueOf(tools, 'files.read', [{ folder: FOLDER, path: 'b.txt', as: 'base64' }])).toBe(btoa('two'))
  })

  it.each([
    ['files.read', { folder: FOLDER, path: 'none' }, 'There is no file "none"'],
    ['files.read', { folder: FOLDER, path: 'a' }, 'There is no file "a"'],
    ['files.list', { folder: FOLDER, path: 'none' }, 'There is no folder "none"'],
  ])('%s says what is not there', async (op, params, message) => {
    const outcome = await callTool(setUp({ 'a/x.txt': '' }).tools, op, [params])
    expect(outcome).toMatchObject({ kind: 'failed', failure: { type: 'logic' } })
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining(message))
  })

  it('is not refused the bytes that were written', async () => {
    const { tools } = setUp()
    const base64 = btoa('\u0000\u00ff')
    await valueOf(tools, 'files.write', [{ folder: FOLDER, path: 'x.bin', base64 }])
    expect(await valueOf(tools, 'files.read', [{ folder: FOLDER, path: 'x.bin', as: 'base64' }])).toBe(base64)
  })
})

describe('a folder', () => {
  it('that was not picked, or has to be allowed again, waits for the user', async () => {
    const { directory, tools } = setUp()
    const write = (folder: string) => callTool(tools, 'files.write', [{ folder, path: 'a', text: '' }])
    expect(await write('other')).toMatchObject({ kind: 'failed', certainty: 'definite', failure: { type: 'auth' } })
    directory.setPermission('prompt')
    expect(await write(FOLDER)).toMatchObject({ kind: 'failed', certainty: 'definite', failure: { type: 'auth' } })
    expect(await callTool(tools, 'files.list', [{ folder: FOLDER }])).toMatchObject({ failure: { type: 'auth' } })
  })

  it('is the permission that is needed', () => {
    const { tools } = setUp()
    for (const { op, params } of mutations) {
      expect(methodOf(tools, op).permissionsFor(paramsOf(tools, op, params))).toEqual(['files:reports'])
    }
  })

  it.each(['../x', 'a/../x', '/etc/passwd', 'a//b', './a', 'a\\..\\b', 'C:x', 'a/', '', 'a\u0000b', 'a/.'])(
    'cannot be left by the path %j',
    (path) => {
      const { tools } = setUp()
      for (const [op, params] of [
        ['files.read', { path }],
        ['files.write', { path, text: '' }],
        ['files.move', { path: 'ok', to: path }],
        ['files.remove', { path }],
      ] as const) {
        const parsed = methodOf(tools, op).parse([{ folder: FOLDER, ...params }])
        expect(parsed.ok ? '' : parsed.error).toContain('must be a path inside of the folder')
      }
    },
  )
})

describe.each(mutations)('$op of $files', ({ op, params, files, after }) => {
  it('does what it says, and checking finds it', async () => {
    const { directory, tools, reconcile } = setUp(files)
    await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    expect(directory.files()).toEqual(after)
    expect(await reconcile(op, params)).toMatchObject({ kind: 'applied' })
  })

  it('happens once for one idempotency key', async () => {
    const { directory, tools } = setUp(files)
    const first = await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    expect(await valueOf(tools, op, [params], { idempotencyKey: 'k1' })).toEqual(first)
    expect(directory.files()).toEqual(after)
  })

  it('has not happened when the tab died before it began', async () => {
    expect(await setUp(files).reconcile(op, params)).toEqual({ kind: 'not_applied' })
  })

  it('is a question where the browser has thrown away what was noted about it', async () => {
    expect(await setUp(files).reconcile(op, params, BEGUN_AT - 1)).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('thrown away') as string,
    })
  })

  it('fails for certain when the disk refused it', async () => {
    const { directory, tools, reconcile } = setUp(files)
    directory.failNext('before', 'QuotaExceededError')
    const outcome = await callTool(tools, op, [params], { idempotencyKey: 'k1' })
    expect(outcome).toMatchObject({ kind: 'failed', certainty: 'definite', failure: { type: 'network' } })
    expect(await reconcile(op, params)).toEqual({ kind: 'not_applied' })
    await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
    expect(directory.files()).toEqual(after)
  })

  it('asks the user when the folder was taken away meanwhile', async () => {
    const { directory, tools } = setUp(files)
    directory.failNext('before', 'NotAllowedError')
    expect(await callTool(tools, op, [params])).toMatchObject({ certainty: 'definite', failure: { type: 'auth' } })
  })

  it('is not done at all when it was cancelled before', async () => {
    const { directory, tools } = setUp(files)
    const outcome = await callTool(tools, op, [params], { signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ kind: 'failed', certainty: 'definite' })
    expect(directory.files()).toEqual(files)
  })
})

describe('a doubtful file', () => {
  it.each(mutations.filter(({ op }) => op !== 'files.move'))(
    'is looked at again: $op of $files that took effect succeeds although the disk complained',
    async ({ op, params, files, after }) => {
      const { directory, tools } = setUp(files)
      directory.failNext('after')
      expect(await callTool(tools, op, [params])).toMatchObject({ kind: 'ok' })
      expect(directory.files()).toEqual(after)
    },
  )

  it('that someone else has changed meanwhile is a question for the user', async () => {
    const { directory, tools, reconcile } = setUp({ 'a.txt': 'old' })
    const params = { folder: FOLDER, path: 'a.txt', text: 'new' }
    await valueOf(tools, 'files.write', [params], { idempotencyKey: 'k1' })
    directory.put('a.txt', 'something else')
    expect(await reconcile('files.write', params)).toMatchObject({ kind: 'unknown' })
  })

  it('in a folder that cannot be opened is a question to be asked again', async () => {
    const { directory, tools, reconcile } = setUp()
    const params = { folder: FOLDER, path: 'a.txt', text: 'new' }
    await valueOf(tools, 'files.write', [params], { idempotencyKey: 'k1' })
    directory.setPermission('prompt')
    expect(await reconcile('files.write', params)).toMatchObject({ kind: 'unknown' })
  })
})

describe('an empty file that a dying tab left behind before it wrote', () => {
  it.each(mutations.filter(({ op, files }) => op !== 'files.remove' && !(op !== 'files.move' && 'a.txt' in files)))(
    'means that $op has not happened, and does not stand in the way of doing it',
    async ({ op, params, files, after }) => {
      const { directory, tools, reconcile } = setUp(files)
      directory.failNext('before')
      await callTool(tools, op, [params], { idempotencyKey: 'k1' })
      expect(directory.files()).toEqual(files)
      directory.put(op === 'files.move' ? 'done/b.txt' : 'a.txt', '')
      expect(await reconcile(op, params)).toEqual({ kind: 'not_applied' })
      await valueOf(tools, op, [params], { idempotencyKey: 'k1' })
      expect(directory.files()).toEqual(after)
    },
  )
})

describe('a move that died between copying and removing', () => {
  const params = { folder: FOLDER, path: 'a.txt', to: 'b.txt' }
  const cutInHalf = async () => {
    const set = setUp({ 'a.txt': 'old' })
    set.directory.failNext('after')
    await callTool(set.tools, 'files.move', [params], { idempotencyKey: 'k1' })
    expect(set.directory.files()).toEqual({ 'a.txt': 'old', 'b.txt': 'old' })
    return set
  }

  it('counts as not done, and doing it again finishes it', async () => {
    const { directory, tools, reconcile } = await cutInHalf()
    expect(await reconcile('files.move', params)).toEqual({ kind: 'not_applied' })
    await valueOf(tools, 'files.move', [params], { idempotencyKey: 'k1' })
    expect(directory.files()).toEqual({ 'b.txt': 'old' })
  })

  it('is not finished by anybody else: their target is in the way', async () => {
    const { directory, tools } = await cutInHalf()
    const outcome = await callTool(tools, 'files.move', [params], { idempotencyKey: 'k2' })
    expect(outcome).toMatchObject({ certainty: 'definite', failure: { type: 'logic' } })
    expect(directory.files()).toEqual({ 'a.txt': 'old', 'b.txt': 'old' })
  })

  it('does not remove the original when the copy has been changed', async () => {
    const { directory, tools, reconcile } = await cutInHalf()
    directory.put('b.txt', 'edited')
    expect(await reconcile('files.move', params)).toMatchObject({ kind: 'unknown' })
    await callTool(tools, 'files.move', [params], { idempotencyKey: 'k1' })
    expect(directory.files()).toEqual({ 'a.txt': 'old', 'b.txt': 'edited' })
  })
})

describe('what cannot be done', () => {
  it.each([
    ['files.move', { path: 'none', to: 'b' }, 'There is no file "none"'],
    ['files.move', { path: 'a.txt', to: 'b.txt' }, 'There is already a file "b.txt"'],
    ['files.move', { path: 'a.txt', to: 'dir' }, '"dir" is a folder'],
    ['files.remove', { path: 'none' }, 'There is no file "none"'],
    ['files.remove', { path: 'dir' }, 'There is no file "dir"'],
    ['files.write', { path: 'dir', text: '' }, '"dir" is a folder'],
    ['files.append', { path: 'dir', text: '' }, '"dir" is a folder'],
  ])('%s %o is refused and changes nothing', async (op, params, message) => {
    const files = { 'a.txt': 'one', 'b.txt': 'two', 'dir/c.txt': 'three' }
    const { directory, tools } = setUp(files)
    const outcome = await callTool(tools, op, [{ folder: FOLDER, ...params }])
    expect(outcome).toMatchObject({ certainty: 'definite', failure: { type: 'logic' } })
    expect(outcome).toHaveProperty('failure.message', expect.stringContaining(message))
    expect(directory.files()).toEqual(files)
  })

  it.each<[Json, string]>([
    [{ folder: FOLDER, path: 'a' }, 'give either `text` or `base64`'],
    [{ folder: FOLDER, path: 'a', text: 'x', base64: 'eA==' }, 'give either `text` or `base64`'],
    [{ folder: FOLDER, path: 'a', base64: '!' }, '`base64`'],
    [{ folder: '../x', path: 'a', text: 'x' }, 'a folder is the name you gave it'],
  ])('files.write %j is refused before anything is recorded', (params, message) => {
    const parsed = methodOf(setUp().tools, 'files.write').parse([params])
    expect(parsed.ok ? '' : parsed.error).toContain(message)
  })
})
