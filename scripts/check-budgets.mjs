import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const DIST = fileURLToPath(new URL('../dist', import.meta.url))
const ENTRY = 'index.html'
const ENTRY_KB = 60
const CHUNK_KB = 90
const EDITOR_KB = 200

/** @typedef {{ file: string, imports?: string[], dynamicImports?: string[] }} Chunk */

/** @type {Record<string, Chunk>} */
const manifest = JSON.parse(await readFile(join(DIST, '.vite/manifest.json'), 'utf8'))

/**
 * Everything that is loaded together with a chunk.
 * @param {string} key
 * @param {Set<string>} [found]
 */
function closureOf(key, found = new Set()) {
  if (found.has(key)) return found
  found.add(key)
  for (const imported of manifest[key]?.imports ?? []) closureOf(imported, found)
  return found
}

/** @type {Map<string, number>} */
const sizes = new Map()

/** @param {string} key */
async function gzipKb(key) {
  const known = sizes.get(key)
  if (known !== undefined) return known
  const file = manifest[key]?.file ?? ''
  const size = file.endsWith('.js') ? gzipSync(await readFile(join(DIST, file))).length / 1000 : 0
  sizes.set(key, size)
  return size
}

/** @param {Iterable<string>} keys */
async function totalKb(keys) {
  let total = 0
  for (const key of keys) total += await gzipKb(key)
  return total
}

const entry = closureOf(ENTRY)
/** @type {{ name: string, kb: number, budget: number }[]} */
const rows = [{ name: 'entry', kb: await totalKb(entry), budget: ENTRY_KB }]

const lazy = new Set(Object.values(manifest).flatMap(({ dynamicImports = [] }) => dynamicImports))
for (const key of lazy) {
  const own = [...closureOf(key)].filter((part) => !entry.has(part))
  const isEditor = /\/features\/(editor|sql)\//.test(key)
  const name = key.replace(/^src\/ui\/|^_/, '').replace(/^node_modules\//, '')
  rows.push({ name, kb: await totalKb(own), budget: isEditor ? EDITOR_KB : CHUNK_KB })
}

let isOver = false
for (const { name, kb, budget } of rows.sort((a, b) => b.kb / b.budget - a.kb / a.budget)) {
  const isTooLarge = kb > budget
  isOver ||= isTooLarge
  console.log(`${isTooLarge ? '✗' : '✓'} ${kb.toFixed(1).padStart(6)} of ${budget} kB  ${name}`)
}
if (isOver) {
  console.error(
    '\nToo large: load something of it later with import(), or do without it. Sizes are gzip, of JavaScript.',
  )
  process.exitCode = 1
}
