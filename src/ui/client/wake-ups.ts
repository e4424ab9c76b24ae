type Shown = EventTarget & Pick<Document, 'visibilityState'>

/** Whatever may mean that time has passed unnoticed, or that the world can be reached again: the engine looks for work at once. */
export const watchWakeUps = (page: EventTarget, shown: Shown, wake: () => void): void => {
  for (const event of ['online', 'focus', 'pageshow']) page.addEventListener(event, wake)
  shown.addEventListener('resume', wake)
  shown.addEventListener('visibilitychange', () => {
    if (shown.visibilityState === 'visible') wake()
  })
}
