/**
 * What has the focus may go away: a question that was settled, a toast, a row that has scrolled out of sight. The browser then leaves
 * the focus nowhere, and who works by keyboard or by ear has lost the place. It goes to the nearest box around it that can have it,
 * or else to the heading of the screen.
 */
export function keepFocus(): () => void {
  let trail: HTMLElement[] = []

  const remember = ({ target }: FocusEvent): void => {
    trail = []
    for (let at = target; at instanceof HTMLElement; at = at.parentElement) trail.push(at)
  }

  const check = (): void => {
    const [focused, ...around] = trail
    if (focused === undefined || focused.isConnected) return
    const isLost = document.activeElement === null || document.activeElement === document.body
    trail = []
    if (!isLost) return
    const home = around.find((box) => box.isConnected && box.tabIndex >= 0)
    const target = home ?? document.querySelector<HTMLElement>('#main h1')
    target?.focus({ preventScroll: true })
  }

  const observer = new MutationObserver(check)
  observer.observe(document.body, { childList: true, subtree: true })
  addEventListener('focusin', remember)
  return () => {
    observer.disconnect()
    removeEventListener('focusin', remember)
  }
}
