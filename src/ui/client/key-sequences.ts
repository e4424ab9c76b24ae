/** How long the first key of a sequence such as `g w` waits for the second. */
const SEQUENCE_MS = 1_200

/** `mod+k`, `shift+a`, `?`: as commands spell it. Null for a bare modifier. */
export function spellKey(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): string | null {
  if (['Shift', 'Control', 'Meta', 'Alt'].includes(event.key) || event.altKey) return null
  const key = event.key.toLowerCase()
  return event.ctrlKey || event.metaKey ? `mod+${key}` : key
}

/** Recognises single keys and sequences of two. Feed it each spelled key with the time; it answers which one is complete. */
export class KeySequences {
  #first: { key: string; at: number } | null = null

  press(key: string, at: number, known: readonly string[]): string | null {
    const first = this.#first
    this.#first = null
    if (first && at - first.at <= SEQUENCE_MS) {
      const sequence = `${first.key} ${key}`
      if (known.includes(sequence)) return sequence
    }
    if (known.includes(key)) return key
    if (known.some((keys) => keys.startsWith(`${key} `))) this.#first = { key, at }
    return null
  }
}
