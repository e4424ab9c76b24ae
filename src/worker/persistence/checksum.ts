/**
 * MurmurHash3 over 32-bit words: finds torn and swapped bytes at about a gigabyte a second, so that replaying a long log on
 * opening is not spent on arithmetic. It guards against accidents, not against forgery.
 */
export function checksum(words: Uint32Array): number {
  let hash = 0x9747b28c
  for (const each of words) {
    let word = Math.imul(each, 0xcc9e2d51)
    word = Math.imul((word << 15) | (word >>> 17), 0x1b873593)
    hash ^= word
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  hash ^= words.length * 4
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
