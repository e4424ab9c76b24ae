import { KeySequences, spellKey } from '../../client/key-sequences.ts'
import type { Commands } from '../../state/commands.svelte.ts'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))

/** Runs commands by their keys. Plain keys are left to whoever is typing, and to open dialogs. */
export function pressKeys(commands: Commands): () => void {
  const sequences = new KeySequences()
  const press = (event: KeyboardEvent): void => {
    const key = spellKey(event)
    if (key === null || event.defaultPrevented) return
    const isChord = key.startsWith('mod+')
    if (!isChord && (isTyping(event.target) || document.querySelector('dialog[open]') !== null)) return
    const { list } = commands
    const complete = sequences.press(
      key,
      event.timeStamp,
      list.flatMap(({ keys }) => keys ?? []),
    )
    if (complete === null) return
    event.preventDefault()
    list.find(({ keys }) => keys === complete)?.run()
  }
  addEventListener('keydown', press)
  return () => removeEventListener('keydown', press)
}
