import type { DiskTrouble, DiskTroubleKind } from './disk.ts'

/** How the storage is doing, in a form that can be shown. */
export type StorageState =
  { kind: 'ok' } | { kind: DiskTroubleKind; message: string; advice: string; reason: string; since: number }

const words: Record<DiskTroubleKind, { message: string; advice: string }> = {
  full: {
    message: 'The browser has no room left for your data. Nothing is lost: everything is kept in memory.',
    advice:
      'Free space on this device or delete old runs, download a backup now, and keep this tab open until it is saved.',
  },
  lost: {
    message: 'The browser closed its storage. Nothing is lost: everything is kept in memory and saving is tried again.',
    advice: 'Keep this tab open. Download a backup now if it does not recover within a minute.',
  },
  superseded: {
    message: 'A newer version of this program runs in another tab and has taken over the stored data.',
    advice: 'Download a backup if this tab shows something that the other one does not, then reload this tab.',
  },
  deleted: {
    message:
      'The stored data was deleted from outside, for example by clearing the data of this site. Everything is still in the memory of this tab, but not saved any more.',
    advice: 'Download a backup now if you want to keep it, then reload this tab and restore it.',
  },
  fenced: {
    message: 'Another tab has become the owner of the data. This one has stopped.',
    advice: 'Nothing to do: this tab goes on as a follower of the other one.',
  },
}

export const troubleState = ({ kind, reason }: DiskTrouble, since: number): StorageState => ({
  kind,
  ...words[kind],
  reason,
  since,
})

/** The same for whoever has nothing open, and so nothing in memory: what is stored is as it was. */
export const refusalInWords: Record<DiskTroubleKind, string> = {
  full: 'The browser has no room left for your data, so nothing can be written. What is stored is safe: download it, free space on this device, then reload this tab.',
  lost: 'The browser failed to open its storage. What is stored was not changed. Reload this tab, or restart the browser if that does not help.',
  superseded:
    'The stored data was taken over by a newer version of this program. Reload this tab to get that version. Nothing was changed.',
  deleted: 'The stored data was deleted meanwhile. Reload this tab to begin anew.',
  fenced: 'Another tab has taken over the stored data meanwhile. Nothing was changed by this one.',
}
