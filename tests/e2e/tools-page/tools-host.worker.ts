import { expose } from 'comlink'
import type { Json } from '#engine/model/json.ts'
import { createSystemClock } from '#worker/system-clock.ts'
import { openTools } from '#worker/tools/open-tools.ts'
import { callTool, methodOf, paramsOf, toolCall } from '../../support/call-tool.ts'

const opened = openTools({ clock: createSystemClock(), databaseName: 'tools-under-test' })

/** Questions and answers are JSON text: the types of what crosses here are nobody's concern. */
const host = {
  async call(op: string, args: string, key: string | null): Promise<string> {
    return JSON.stringify(await callTool(opened.tools, op, JSON.parse(args) as Json[], { idempotencyKey: key }))
  },
  async reconcile(op: string, params: string, key: string): Promise<string> {
    const checked = paramsOf(opened.tools, op, JSON.parse(params) as Json)
    const outcome = await methodOf(opened.tools, op).reconcile?.(checked, toolCall({ idempotencyKey: key }))
    return JSON.stringify(outcome ?? null)
  },
  async putSecret(name: string, value: string, host: string): Promise<boolean> {
    return (await opened.vault.put({ name, value, hosts: [host] })).ok
  },
  async setPassphrase(passphrase: string): Promise<boolean> {
    return (await opened.vault.setPassphrase(passphrase)).ok
  },
  async unlock(passphrase: string): Promise<boolean> {
    return (await opened.vault.unlock(passphrase)).ok
  },
  /** The private file system of the origin is made of the same handles as a folder that somebody picked. */
  pickPrivateFolder: async (name: string) => {
    const root = await navigator.storage.getDirectory()
    await opened.folders.put(name, await root.getDirectoryHandle(name, { create: true }))
  },
}
export type ToolsHost = typeof host

expose(host)
