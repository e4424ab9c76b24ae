import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { contentSecurityPolicy } from '../../../scripts/content-security-policy.mjs'
import { createStaticServer, listen } from '../../../scripts/serve.mjs'
import type {} from '../sandbox-page/main.ts' // brings the type of globalThis.askSandbox
import { test as base } from './test.ts'

const ROOT = fileURLToPath(new URL('../sandbox-page', import.meta.url))

/** Serves a page whose worker holds a real sandbox, under the policy of the real application. */
export const test = base.extend<object, { sandboxUrl: string }>({
  sandboxUrl: [
    async ({}, use) => {
      const outDir = await mkdtemp(join(tmpdir(), 'holdfast-sandbox-page-'))
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
  baseURL: async ({ sandboxUrl }, use) => use(sandboxUrl),
})

export { expect } from './test.ts'
