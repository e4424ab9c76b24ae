import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/**
 * The same events in the same handler give the same key, whatever attempt makes the call: the other side can recognise a
 * repetition even where we could not.
 */
export const idempotencyKey = (workflowId: string, handlerName: string, eventIds: readonly string[]): string => {
  const identity = JSON.stringify([workflowId, handlerName, [...eventIds].sort()])
  return `hf_${bytesToHex(sha256(utf8ToBytes(identity))).slice(0, 40)}`
}
