/** 0 ≤ x < 1, always the same for the same parts: the demo world is a function of its seed and the clock. */
export function chance(...parts: readonly (string | number)[]): number {
  // FNV-1a over the parts, then one round of mulberry32 so that neighbouring numbers do not look alike.
  let hash = 0x811c9dc5
  for (const character of parts.join('\u0000')) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  let mixed = (hash + 0x6d2b79f5) | 0
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

export function pick<T>(choices: readonly [T, ...T[]], ...parts: readonly (string | number)[]): T {
  return choices[Math.floor(chance(...parts) * choices.length)] ?? choices[0]
}
