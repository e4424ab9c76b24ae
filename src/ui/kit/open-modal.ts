/**
 * Attached to a dialog that is in the page only while it is open. The browser gives the focus back when a dialog closes, but not
 * when it is taken out of the page: that is done here, unless the focus has gone elsewhere by then.
 */
export function openModal(dialog: HTMLDialogElement): () => void {
  const opener = document.activeElement
  dialog.showModal()
  return () => {
    dialog.close()
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (isLost && opener instanceof HTMLElement && opener.isConnected) opener.focus()
  }
}
