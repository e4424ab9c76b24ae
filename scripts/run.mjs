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
 * npm as a plain Node program: the same npm that started us, and no shell in between on any system.
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 */
export function npm(args, options) {
  const ownNpm = process.env.npm_execpath
  return ownNpm?.endsWith('.js') ? run(process.execPath, [ownNpm, ...args], options) : run('npm', args, options)
}

/**
 * Ends the script with one sentence on what to do.
 * @param {string} sentence
 * @returns {never}
 */
export function giveUp(sentence) {
  console.error(`\n${sentence}`)
  process.exit(1)
}
