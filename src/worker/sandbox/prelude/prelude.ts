import { cloneSource } from './clone.ts'
import { describeSource } from './describe.ts'
import { encodingSource } from './encoding.ts'
import { globalsSource } from './globals.ts'
import { urlSource } from './url.ts'

/** Evaluated after the bridge and before the script, in this order. Each is a function of the bridge's captured tools. */
export const preludeSources = [globalsSource, describeSource, encodingSource, urlSource, cloneSource]
