// Its directives are for the compiler: steps and workflows end up in two bundles, which vercel.mjs loads.
import { sleep } from 'workflow'
import { leaveTrace } from '../serve-peer.mjs'

/** @param {number} n */
async function prepare(n) {
  'use step'
  return { n: leaveTrace('prepare', n) }
}

/** @param {number} n */
async function mutate(n) {
  'use step'
  return leaveTrace('mutate', n)
}

/** @param {number} n */
async function next(n) {
  'use step'
  return { last: leaveTrace('next', n) }
}

/** @param {number} n */
export async function carry(n) {
  'use workflow'
  const prepared = await prepare(n)
  await mutate(prepared.n)
  return next(prepared.n)
}

/** @param {number} ms */
async function dueIn(ms) {
  'use step'
  return Date.now() + ms
}

/** @param {number} due */
async function lateBy(due) {
  'use step'
  return Date.now() - due
}

/** @param {number} ms */
export async function nap(ms) {
  'use workflow'
  const due = await dueIn(ms)
  await sleep(new Date(due))
  return lateBy(due)
}
