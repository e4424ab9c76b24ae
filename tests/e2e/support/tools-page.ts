import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { contentSecurityPolicy } from '../../../scripts/content-security-policy.mjs'
import { createStaticServer, listen } from '../../../scripts/serve.mjs'
import { startMisbehavingServer, type MisbehavingServer } from '../../support/misbehaving-server.ts'
import type {} from '../tools-page/main.ts' // brings the type of globalThis.toolsHost
import { test as base } from './test.ts'

const ROOT = fileURLToPath(new URL('../tools-page', import.meta.url))

interface Servers {
  /** Allows every page to use it. */
  friendly: MisbehavingServer
  /** Knows nothing of CORS. */
  unfriendly: MisbehavingServer
}

/** Serves a page whose worker holds the real tools, under the policy of the real application. */
export const test = base.extend<Servers, { toolsUrl: string }>({
  toolsUrl: [
    async ({}, use) => {
      const outDir = await mkdtemp(join(tmpdir(), 'holdfast-tools-page-'))
      await build({
        configFile: false,
        root: ROOT,
        base: './',
        logLevel: 'silent',
        worker: { format: 'es' },
        build: { outDir, emptyOutDir: true, target: 'es2023' },
        plugins: [
          {
            name: 'policy',
            transformIndexHtml: (html) => html.replace('%CONTENT_SECURITY_POLICY%', contentSecurityPolicy),
          },
        ],
      })
      const server = createStaticServer(outDir)
      await use(await listen(server, 0))
      server.closeAllConnections()
      server.close()
      await rm(outDir, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ toolsUrl }, use) => use(toolsUrl),
  friendly: async ({}, use) => {
    const server = await startMisbehavingServer({ allowsPages: true })
    await use(server)
    await server.close()
  },
  unfriendly: async ({}, use) => {
    const server = await startMisbehavingServer()
    await use(server)
    await server.close()
  },
})

export { expect } from './test.ts'
