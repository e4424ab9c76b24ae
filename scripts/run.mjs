import { spawn } from 'node:child_process'

/**
 * Runs a program with our own input and output. Resolves to its exit code; a program that is missing or overdue is a
 * failed one.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, stdio?: 'inherit' | 'ignore', timeoutMs?: number }} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { env = process.env, stdio = 'inherit', timeoutMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio, timeout: timeoutMs })
    child.once('error', () => resolve(127))
    child.once('close', (code) => resolve(code ?? 1))
  })
}

/**
 * The same, with what it says kept to be told in one piece: for programs that run side by side.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ code: number, said: string }>}
 */
function runKeeping(command, args, { env = process.env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stdout.on('data', (data) => (said += data))
    child.stderr.on('data', (data) => (said += data))
    child.once('error', ({ message }) => resolve({ code: 127, said: said + message }))
    child.once('close', (code) => resolve({ code: code ?? 1, said }))
  })
}

/**
 * npm as a plain Node program: the same npm that started us, and no shell in between on any system.
 * @param {string[]} args
 * @returns {[string, string[]]}
 */
function ownNpm(args) {
  const path = process.env.npm_execpath
  return path?.endsWith('.js') ? [process.execPath, [path, ...args]] : ['npm', args]
}

/**
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 */
export const npm = (args, options) => run(...ownNpm(args), options)

/**
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 */
export const npmKeeping = (args, options) => runKeeping(...ownNpm(args), options)

/**
 * Ends the script with one sentence on what to do.
 * @param {string} sentence
 * @returns {never}
 */
export function giveUp(sentence) {
  console.error(`\n${sentence}`)
  process.exit(1)
}
