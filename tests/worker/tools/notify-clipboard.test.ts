import { describe, expect, it, vi } from 'vitest'
import { createClipboardTools } from '#worker/tools/clipboard.ts'
import { createNotifyTools, createWorkerNotifier } from '#worker/tools/notify.ts'
import { callTool, methodOf, valueOf } from '../../support/call-tool.ts'
import { finderOf } from '../../support/tool-kit.ts'

/** A platform that shows, refuses or ignores. */
function createFakeNotification(permission: NotificationPermission, answer: 'show' | 'error') {
  const made: { title: string; options: NotificationOptions; click: () => void; isClosed: boolean }[] = []
  class FakeNotification {
    static permission = permission
    onshow: () => void = () => undefined
    onerror: () => void = () => undefined
    onclick: () => void = () => undefined
    entry
    constructor(title: string, options: NotificationOptions) {
      this.entry = { title, options, click: () => this.onclick(), isClosed: false }
      made.push(this.entry)
      queueMicrotask(() => (answer === 'show' ? this.onshow() : this.onerror()))
    }
    close() {
      this.entry.isClosed = true
    }
  }
  return { made, type: FakeNotification as unknown as typeof Notification }
}

function setUp(permission: NotificationPermission = 'granted', answer: 'show' | 'error' = 'show') {
  const fake = createFakeNotification(permission, answer)
  const openRun = vi.fn<(handlerRunId: string) => void>()
  const tools = finderOf(createNotifyTools(createWorkerNotifier(fake.type, { openRun })))
  return { made: fake.made, openRun, tools }
}

describe('notify.show', () => {
  it('shows a notification whose click opens the run it came from', async () => {
    const { made, openRun, tools } = setUp()
    await valueOf(tools, 'notify.show', [{ title: 'Hello', body: 'there' }], { handlerRunId: 'hr_7' })
    expect(made).toMatchObject([{ title: 'Hello', options: { body: 'there' } }])
    made[0]?.click()
    expect(openRun).toHaveBeenCalledWith('hr_7')
    expect(made[0]?.isClosed).toBe(true)
  })

  it('replaces the first notification when it is repeated', async () => {
    const { made, tools } = setUp()
    for (let n = 0; n < 2; n++) await valueOf(tools, 'notify.show', [{ title: 'Hello' }], { idempotencyKey: 'k1' })
    expect(made.map(({ options }) => options.tag)).toEqual(['k1', 'k1'])
  })

  it.each(['denied', 'default'] as const)('waits for the user while it is %s', async (permission) => {
    const { made, tools } = setUp(permission)
    const outcome = await callTool(tools, 'notify.show', [{ title: 'Hello' }])
    expect(outcome).toMatchObject({ kind: 'failed', certainty: 'definite', failure: { type: 'auth' } })
    expect(made).toEqual([])
  })

  it('fails for certain when the system refuses, because repeating it does no harm', async () => {
    const { tools } = setUp('granted', 'error')
    const outcome = await callTool(tools, 'notify.show', [{ title: 'Hello' }])
    expect(outcome).toMatchObject({ kind: 'failed', certainty: 'definite', failure: { type: 'network' } })
  })

  it('waits for the user in a browser without notifications', async () => {
    const tools = finderOf(createNotifyTools(createWorkerNotifier(undefined, { openRun: () => undefined })))
    expect(await callTool(tools, 'notify.show', [{ title: 'Hello' }])).toMatchObject({ failure: { type: 'auth' } })
  })

  it('needs its permission and a title', () => {
    const method = methodOf(setUp().tools, 'notify.show')
    expect(method.permissionsFor({ title: 'x' })).toEqual(['notify'])
    expect(method.parse([{ title: '' }])).toMatchObject({ ok: false })
  })
})

describe('clipboard.write', () => {
  it('copies the text', async () => {
    const writeText = vi.fn(() => Promise.resolve())
    await valueOf(finderOf(createClipboardTools({ writeText })), 'clipboard.write', ['hello'])
    expect(writeText).toHaveBeenCalledWith('hello')
  })

  it('is tried again later while the window is not in front', async () => {
    const writeText = () => Promise.reject(new DOMException('Document is not focused.', 'NotAllowedError'))
    const outcome = await callTool(finderOf(createClipboardTools({ writeText })), 'clipboard.write', ['hello'])
    expect(outcome).toMatchObject({ kind: 'failed', certainty: 'definite', failure: { type: 'network' } })
  })
})
