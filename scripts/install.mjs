import { statSync } from 'node:fs'
import { giveUp, npm } from './run.mjs'

const OLDEST_NODE = [20, 19]

/** @param {string} path */
const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** npm writes this file last, so a broken-off install counts as none. */
const isInstalled = () => changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    giveUp(`Holdfast needs Node ${OLDEST_NODE.join('.')} or newer, this is ${process.version}: see https://nodejs.org.`)
  }
}

/** Brings node_modules to what package-lock.json says. Called before anything from node_modules is imported. */
export async function ensureInstalled() {
  requireNode()
  if (isInstalled()) return
  console.log('Installing the packages of package-lock.json …')
  if ((await npm(['ci', '--no-audit', '--no-fund'])) !== 0) {
    giveUp('The packages could not be installed: check the connection to the npm registry and run the command again.')
  }
}
