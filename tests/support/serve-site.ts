import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { createStaticServer, listen } from '../../scripts/serve.mjs'

export interface ServedSite {
  url: string
  close: () => Promise<void>
}

/** With these a page may read the time to a few microseconds instead of a tenth of a millisecond. */
const ISOLATION_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}

/** Builds a page that only tests use and serves it on this machine. */
export async function serveSite(folder: string, { isIsolated = false } = {}): Promise<ServedSite> {
  const outDir = await mkdtemp(join(tmpdir(), 'holdfast-site-'))
  await build({
    root: fileURLToPath(new URL(folder, import.meta.url)),
    configFile: false,
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir, emptyOutDir: true, target: 'es2023' },
  })
  const server = createStaticServer(outDir)
  if (isIsolated) {
    server.prependListener('request', (_request, response) => {
      for (const [name, value] of Object.entries(ISOLATION_HEADERS)) response.setHeader(name, value)
    })
  }
  const url = await listen(server, 0)
  return {
    url,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(outDir, { recursive: true, force: true })
    },
  }
}
