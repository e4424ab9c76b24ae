import { expect, type Locator, type Page } from '@playwright/test'

declare global {
  var unseenFocus: string[]
}

/** Somebody who has a keyboard and nothing else, and who complains where the focus cannot be seen. */
export class Hands {
  readonly page: Page
  readonly focused: Locator

  constructor(page: Page) {
    this.page = page
    this.focused = page.locator(':focus')
  }

  /** Before the page is opened. */
  async watchFocus(): Promise<void> {
    await this.page.emulateMedia({ reducedMotion: 'reduce' })
    await this.page.addInitScript(() => {
      globalThis.unseenFocus = []
      const isSeen = (at: Element): boolean => {
        const { outlineStyle, boxShadow } = getComputedStyle(at)
        return outlineStyle !== 'none' || boxShadow !== 'none'
      }
      const isFramed = (code: Element | null): boolean => {
        const frame = code?.parentElement ?? null
        return frame !== null && getComputedStyle(frame, '::after').borderTopWidth === '2px'
      }
      const look = (target: Element, framesLeft: number): void => {
        if (target !== document.activeElement || !target.matches(':focus-visible')) return
        const label = target.closest('label')
        const isLabelled = label !== null && getComputedStyle(label).outlineStyle !== 'none'
        if (isSeen(target) || isLabelled || isFramed(target.closest('.cm-editor'))) return
        if (framesLeft > 0) requestAnimationFrame(() => look(target, framesLeft - 1))
        else globalThis.unseenFocus.push(target.outerHTML.slice(0, 120))
      }
      // At once, because fast hands are gone by the next frame. Only the editor takes a few of them to show it.
      addEventListener('focusin', ({ target }) => {
        if (target instanceof Element) look(target, target.closest('.cm-editor') === null ? 0 : 20)
      })
    })
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key)
  }

  type(text: string): Promise<void> {
    return this.page.keyboard.insertText(text)
  }

  /** By Tab, which has to move on each time: a place that cannot be left is a trap. */
  async reach(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    let wanted = await target.first().elementHandle()
    for (let presses = 0; presses < 120; presses += 1) {
      if (await wanted.evaluate((element) => element === document.activeElement)) return
      // What is live may have been drawn anew since.
      if (presses % 16 === 15) wanted = await target.first().elementHandle()
      await this.press(key)
    }
    throw new Error(`120 times ${key} did not lead to ${String(target)}, but to ${await this.whereabouts()}`)
  }

  async reachAndPress(target: Locator, ...keys: string[]): Promise<void> {
    await this.reach(target)
    await this.press(...(keys.length === 0 ? ['Enter'] : keys))
  }

  async expectFocusSeen(): Promise<void> {
    expect(await this.page.evaluate(() => globalThis.unseenFocus)).toEqual([])
  }

  private whereabouts(): Promise<string> {
    return this.page.evaluate(() => document.activeElement?.outerHTML.slice(0, 120) ?? 'nowhere')
  }
}
