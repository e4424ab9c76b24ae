import type { TextInTurn } from '../persistence/text-in-turn.ts'
import type { KeyValue } from './key-value.ts'

type Texts = Record<string, string>

/**
 * The same texts in a file as well: a browser may throw its own databases away after a crash. Found empty, with texts in the file, they
 * are put back. Where there is no file, or it cannot be written, nothing is different from having none.
 */
export function createSparedKeyValue(kept: KeyValue, openSpare: () => Promise<TextInTurn | null>): KeyValue {
  let opening: Promise<(change: (texts: Texts) => Texts) => void> | undefined

  const open = async (): Promise<(change: (texts: Texts) => Texts) => void> => {
    const spare = await openSpare().catch(() => null)
    if (!spare) return () => undefined
    const keys = await kept.keys()
    let texts: Texts = {}
    if (keys.length > 0) {
      for (const key of keys) texts[key] = (await kept.get(key)) ?? ''
    } else if (spare.text !== null) {
      texts = JSON.parse(spare.text) as Texts
      for (const [key, text] of Object.entries(texts)) await kept.update(key, (old) => old ?? text)
    }
    const note = (change: (before: Texts) => Texts): void => {
      texts = change(texts)
      const text = JSON.stringify(texts)
      try {
        if (text !== spare.text) spare.write(text)
      } catch {
        // The texts themselves are kept; that is what was promised.
      }
    }
    note((same) => same)
    return note
  }
  const ready = () => (opening ??= open())

  return {
    async get(key) {
      await ready()
      return kept.get(key)
    },
    async update(key, change) {
      const note = await ready()
      let text = ''
      await kept.update(key, (old) => (text = change(old)))
      note((texts) => ({ ...texts, [key]: text }))
    },
    async keys() {
      await ready()
      return kept.keys()
    },
    async clear() {
      const note = await ready()
      await kept.clear()
      note(() => ({}))
    },
  }
}
