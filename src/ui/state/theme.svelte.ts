export const themes = ['system', 'light', 'dark'] as const
export type ThemeChoice = (typeof themes)[number]

const KEY = 'holdfast:theme'
const isTheme = (value: unknown): value is ThemeChoice => (themes as readonly unknown[]).includes(value)

/** Kept in localStorage and not in the database: it belongs to this screen, and is needed before the engine is open. */
export class Theme {
  #choice = $state.raw<ThemeChoice>('system')

  constructor() {
    const stored = localStorage.getItem(KEY)
    this.#apply(isTheme(stored) ? stored : 'system')
    addEventListener('storage', ({ key, newValue }) => {
      if (key === KEY) this.#apply(isTheme(newValue) ? newValue : 'system')
    })
  }

  get choice(): ThemeChoice {
    return this.#choice
  }

  choose(choice: ThemeChoice): void {
    localStorage.setItem(KEY, choice)
    this.#apply(choice)
  }

  #apply(choice: ThemeChoice): void {
    this.#choice = choice
    if (choice === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = choice
  }
}
