const KEY = 'holdfast:used'

/**
 * Whether nothing was ever made in this browser, as far as the page itself can know. It is asked before the engine has opened, so
 * that the welcome does not wait for it; the engine then has the last word.
 */
export const isFirstVisit = (): boolean => localStorage.getItem(KEY) === null

export const rememberUse = (): void => localStorage.setItem(KEY, 'yes')
