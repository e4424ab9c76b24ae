type PickOptions = { id: string; mode: 'readwrite' }
type Picker = (options: PickOptions) => Promise<FileSystemDirectoryHandle>
type Asking = FileSystemDirectoryHandle & {
  requestPermission?: (options: { mode: 'readwrite' }) => Promise<PermissionState>
}

// TypeScript does not know the picker yet, and not every browser has it.
const picker = (): Picker | undefined =>
  (globalThis as typeof globalThis & { showDirectoryPicker?: Picker }).showDirectoryPicker

export const canPickFolders = (): boolean => picker() !== undefined

/** Null when the person changed their mind. The browser remembers for each purpose where it was last. */
export async function pickFolder(purpose: 'backup' | 'files'): Promise<FileSystemDirectoryHandle | null> {
  try {
    return (await picker()?.({ id: `holdfast-${purpose}`, mode: 'readwrite' })) ?? null
  } catch {
    return null
  }
}

/** Only on a click: browsers ask nobody who did not just do something. */
export const askForFolder = async (folder: Asking): Promise<boolean> =>
  ((await folder.requestPermission?.({ mode: 'readwrite' })) ?? 'granted') === 'granted'
