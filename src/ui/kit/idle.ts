/** When nothing else is to be done, and at the latest after this time: for what may wait and should come all the same. */
export const idle = (atMostMs = 1_000): Promise<void> =>
  new Promise((resolve) => {
    // Safari knows of no idle moments.
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: atMostMs })
    else setTimeout(resolve, 50)
  })
