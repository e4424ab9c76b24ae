// durably in a page: SQLocal keeps SQLite in a worker of its own, on OPFS.
import { SQLocalKysely } from 'sqlocal/kysely'
import { defineCarry, openDurably } from '../durably-carry.mjs'

const isTraced = new URL(globalThis.document.URL).searchParams.has('traced')

/** @param {string} step @param {number} n */
const leaveTrace = async (step, n) => {
  if (isTraced) await fetch(`/trace?step=${step}&n=${n}`, { method: 'POST' })
  return n
}
const carry = defineCarry(leaveTrace)

/** @param {string} file @param {number} maxConcurrentRuns */
const open = (file, maxConcurrentRuns) =>
  openDurably({ dialect: new SQLocalKysely(file).dialect, carry, maxConcurrentRuns })

// Not both when there is only one thing to do: each has a worker.
const together = await open('many.sqlite3', 8)
const alone = isTraced ? together : await open('one.sqlite3', 1)

globalThis.peer = { alone, together }
