import type { Router } from '../client/router.svelte.ts'

export type IncomingKind = 'backup' | 'workflow'

/** Not yet among the DOM's types. */
interface LaunchQueue {
  setConsumer(consume: (launch: { files?: readonly FileSystemFileHandle[] }) => void): void
}

const screens: Record<IncomingKind, string> = { backup: '#/settings/backup', workflow: '#/import' }

/** By the name alone: what is really in it is checked where it is used. */
export const kindOf = (name: string): IncomingKind => (/\.(sqlite3?|db)$/i.test(name) ? 'backup' : 'workflow')

/** What was shared with the application, as an address inside of it; null when it is none of ours. */
export function sharedAddress(search: string): string | null {
  const params = new URLSearchParams(search)
  const words = [params.get('url'), params.get('text')].flatMap((text) => text?.split(/\s+/) ?? [])
  const link = words.find((word) => URL.canParse(word) && new URL(word).hash.startsWith(screens.workflow))
  return link === undefined ? null : new URL(link).hash
}

/**
 * Files and links that the system hands over: from the file manager, the share sheet, or a second start of the installed
 * application. Each waits here until the screen that deals with its kind takes it.
 */
export class IncomingFiles {
  #waiting = $state.raw<{ kind: IncomingKind; file: File } | null>(null)

  /** For an effect of that screen: the file, once. */
  take(kind: IncomingKind): File | null {
    const waiting = this.#waiting
    if (waiting?.kind !== kind) return null
    this.#waiting = null
    return waiting.file
  }

  watch(router: Router): void {
    const { launchQueue } = globalThis as { launchQueue?: LaunchQueue }
    launchQueue?.setConsumer(({ files = [] }) => {
      const [handle] = files
      if (handle) void handle.getFile().then((file) => this.#bring(file, router))
    })
    if (location.search === '') return
    // Before anything is shown; and what was shared must not be shared again by every reload.
    const address = sharedAddress(location.search) ?? location.hash
    history.replaceState(history.state, '', `${location.pathname}${address}`)
  }

  #bring(file: File, router: Router): void {
    const kind = kindOf(file.name)
    this.#waiting = { kind, file }
    router.go(screens[kind])
  }
}
