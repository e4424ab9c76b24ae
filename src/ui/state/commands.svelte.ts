import { untrack } from 'svelte'
import type { Icon } from '../kit/look.ts'

/** Something a person can do from the palette or by a key. */
export interface Command {
  id: string
  title: string
  group: string
  icon?: Icon
  /** `mod+k`, `g w`, `?`: a sequence is separated by blanks. */
  keys?: string
  run: () => void
}

type Source = () => readonly Command[]

/** Everything that can be done here and now: the shell's own commands and those of the screen that is shown. */
export class Commands {
  #sources = $state.raw<readonly Source[]>([])

  get list(): Command[] {
    return this.#sources.flatMap((source) => source())
  }

  /** In a screen: `$effect(() => app.commands.add(() => [...]))`. The returned function takes them back. */
  add(source: Source): () => void {
    // The effect that adds must not run again because somebody else adds.
    this.#sources = [...untrack(() => this.#sources), source]
    return () => {
      this.#sources = untrack(() => this.#sources).filter((other) => other !== source)
    }
  }
}
