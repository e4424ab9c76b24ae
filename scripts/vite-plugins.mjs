import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { contentSecurityPolicy } from './content-security-policy.mjs'

const SERVICE_WORKER = 'service-worker.js'
/** Not part of the running application. */
const NOT_SHIPPED = [/\.map$/, /^\.vite\//, /^screenshots\//, /^service-worker\.js$/]

/** @returns {import('vite').Plugin} */
export const fillContentSecurityPolicy = () => ({
  name: 'holdfast:content-security-policy',
  transformIndexHtml: (html) => html.replace('%CONTENT_SECURITY_POLICY%', contentSecurityPolicy),
})

/**
 * Tells the service worker which files the release consists of, once they are all written.
 * @returns {import('vite').Plugin}
 */
export function fillServiceWorker() {
  let outDir = 'dist'
  return {
    name: 'holdfast:service-worker',
    apply: 'build',
    configResolved: (config) => void (outDir = config.build.outDir),
    async closeBundle() {
      const path = join(outDir, SERVICE_WORKER)
      const source = await readFile(path, 'utf8').catch(() => null)
      if (source === null) return
      const release = await describeRelease(outDir)
      await writeFile(path, `const __RELEASE__ = ${JSON.stringify(release)};\n${source}`)
    },
  }
}

/** @param {string} folder */
async function describeRelease(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !NOT_SHIPPED.some((pattern) => pattern.test(file)))
    .sort()
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(await readFile(join(folder, file)))
  return { version: hash.digest('hex').slice(0, 12), files }
}
