import { describeSource } from './describe.ts'
import { globalsSource } from './globals.ts'

/** Evaluated after the bridge and before the script, in this order. Each is a function of the bridge's captured tools. */
export const preludeSources = [globalsSource, describeSource]
