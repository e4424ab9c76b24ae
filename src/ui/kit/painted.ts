/** When what is in the page now has been painted: for what must not delay it. In a hidden tab that is when it is looked at. */
export const painted = (): Promise<void> =>
  new Promise((resolve) => requestAnimationFrame(() => void setTimeout(resolve)))
