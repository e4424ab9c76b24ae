/** Arrow keys, Home and End move the focus among those inside the element that match; everything else is left alone. */
export function moveFocus(event: KeyboardEvent, selector: string, axis: 'vertical' | 'horizontal' = 'vertical'): void {
  const [back, forth] =
    axis === 'vertical' ? (['ArrowUp', 'ArrowDown'] as const) : (['ArrowLeft', 'ArrowRight'] as const)
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(selector)]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const steps: Record<string, number | undefined> = {
    [back]: (at - 1 + items.length) % items.length,
    [forth]: (at + 1) % items.length,
    Home: 0,
    End: items.length - 1,
  }
  const next = steps[event.key]
  if (next === undefined || items.length === 0) return
  event.preventDefault()
  items[next]?.focus()
}
