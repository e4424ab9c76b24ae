import { expect, test, vi } from 'vitest'
import { watchWakeUps } from '#ui/client/wake-ups.ts'

class Shown extends EventTarget {
  visibilityState: DocumentVisibilityState = 'visible'
}

test('the engine looks when the page is shown, focused, resumed, restored or online again, and not when it is hidden', () => {
  const page = new EventTarget()
  const shown = new Shown()
  const wake = vi.fn()
  watchWakeUps(page, shown, wake)
  for (const event of ['online', 'focus', 'pageshow']) page.dispatchEvent(new Event(event))
  for (const event of ['resume', 'visibilitychange']) shown.dispatchEvent(new Event(event))
  expect(wake).toHaveBeenCalledTimes(5)
  shown.visibilityState = 'hidden'
  shown.dispatchEvent(new Event('visibilitychange'))
  expect(wake).toHaveBeenCalledTimes(5)
})
