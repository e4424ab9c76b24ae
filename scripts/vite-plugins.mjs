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

/**
 * Lets the browser fetch a screen together with the entry: waiting for the entry to ask costs a round trip. Its style, a kilobyte,
 * is used at once: the browser complains of what was preloaded and then not needed.
 * @param {string} screen
 * @returns {import('vite').Plugin}
 */
export const preloadScreen = (screen) => ({
  name: 'holdfast:preload-screen',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle }) => {
      const chunks = Object.values(bundle ?? {}).filter((file) => file.type === 'chunk')
      const first = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(screen))
      if (first === undefined) return []
      const entry = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/index.html'))
      const known = new Set([entry?.fileName, ...(entry?.imports ?? [])])
      const scripts = [first.fileName, ...first.imports].filter((file) => !known.has(file))
      const styles = scripts.flatMap((file) => [
        ...(chunks.find(({ fileName }) => fileName === file)?.viteMetadata?.importedCss ?? []),
      ])
      return [
        ...scripts.map((file) => tag({ rel: 'modulepreload', crossorigin: true, href: `./${file}` })),
        ...styles.map((file) => tag({ rel: 'stylesheet', crossorigin: true, href: `./${file}` })),
      ]
    },
  },
})

/** @param {Record<string, string | boolean>} attrs */
const tag = (attrs) => ({ tag: 'link', attrs, injectTo: /** @type {const} */ ('head') })

/**
 * An icon of lucide is built element by element from data each time it is shown, which is most of what showing a list costs.
 * None of ours takes a property, so each becomes a fixed piece of SVG that is cloned.
 * @returns {import('vite').Plugin}
 */
export const fixedIcons = () => ({
  name: 'holdfast:fixed-icons',
  enforce: 'pre',
  transform: {
    filter: { id: /[\\/]@lucide[\\/]svelte[\\/]dist[\\/]icons[\\/][^\\/]+\.svelte$/ },
    handler: (code, id) => {
      const data = /const iconData = (\{.*\});/.exec(code)?.[1]
      if (data === undefined) throw new Error(`${id} is no icon as it is known here: look at fixedIcons.`)
      /** @type {{ name: string, node: [string, Record<string, string>][] }} */
      const { name, node } = JSON.parse(data)
      const shapes = node.map(([tag, attributes]) => `<${tag} ${inMarkup(attributes)} />`).join('')
      // Nobody steps through an icon: it comes without a map.
      return { code: `<svg class="lucide lucide-${name}" ${inMarkup(ICON)}>${shapes}</svg>`, map: { mappings: '' } }
    },
  },
})

const ICON = {
  viewBox: '0 0 24 24',
  width: '24',
  height: '24',
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': '2',
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
  'aria-hidden': 'true',
}

/** @param {Record<string, string>} attributes */
const inMarkup = (attributes) =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ')
