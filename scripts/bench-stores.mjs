import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npm } from './run.mjs'

/** Not the folder of the other peers: npm takes away there what it was not told of. */
const FOLDER = fileURLToPath(new URL('../stores.local', import.meta.url))

const PACKAGES = [
  'absurd-sql@0.0.54',
  '@jlongster/sql.js@1.6.7',
  'wa-sqlite@1.0.0',
  '@sqlite.org/sqlite-wasm@3.54.1-build1',
  '@electric-sql/pglite@0.5.16',
]

/** One of them asks for a newer Node than we do; here they only run in the browser. */
const SWITCHES = ['--engine-strict=false']

/** @param {string} versioned */
const nameOf = (versioned) => versioned.slice(0, versioned.lastIndexOf('@'))
/** @param {string} versioned */
const isInstalled = (versioned) => existsSync(join(FOLDER, 'node_modules', nameOf(versioned), 'package.json'))

/**
 * Brings the other stores into a folder that git ignores. Where they cannot be had, the comparison is left out, with a line.
 * @returns {Promise<string[] | null>} names and versions
 */
export async function installStores() {
  if (!PACKAGES.every(isInstalled)) {
    console.log('installing the stores to compare with')
    await mkdir(FOLDER, { recursive: true })
    await writeFile(join(FOLDER, 'package.json'), '{ "private": true, "type": "module" }\n')
    await npm(['install', '--prefix', FOLDER, '--no-audit', '--no-fund', '--no-package-lock', ...SWITCHES, ...PACKAGES])
  }
  const missing = PACKAGES.filter((each) => !isInstalled(each))
  if (missing.length === 0) return PACKAGES
  console.log(`left out: the comparison of stores, because ${missing.join(', ')} could not be installed.`)
  return null
}

/**
 * Finds the packages of the stores where they were installed.
 * @returns {import('vite').Plugin}
 */
export const findStores = () => {
  const names = PACKAGES.map(nameOf)
  return {
    name: 'holdfast:find-stores',
    enforce: 'pre',
    async resolveId(source) {
      if (!names.some((name) => source === name || source.startsWith(`${name}/`))) return null
      return this.resolve(source, join(FOLDER, 'index.js'), { skipSelf: true })
    },
  }
}
