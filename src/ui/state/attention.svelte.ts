import type { Escalation } from '#engine/model/escalation.ts'
import type { LiveQuery } from '../client/live-query.svelte.ts'

/** Chosen on the settings screen; kept beside the theme, because it belongs to this browser. */
const NOTIFY_KEY = 'holdfast:notify'

/** What waits for a person, told where the person looks: the title, the badge of the installed application, a notification. */
export class Attention {
  readonly #questions: LiveQuery<Escalation[]>
  #known: ReadonlySet<string> | null = null

  constructor(questions: LiveQuery<Escalation[]>) {
    this.#questions = questions
  }

  get count(): number {
    return this.#questions.value?.length ?? 0
  }

  /** In an effect: tells about what is new since the last time. */
  announce(): void {
    const open = this.#questions.value
    if (open === undefined) return
    // Not everywhere, and only for an installed application: nothing depends on it.
    if ('setAppBadge' in navigator) void navigator.setAppBadge(open.length).catch(() => undefined)
    const known = this.#known
    this.#known = new Set(open.map(({ id }) => id))
    // What was there when the page was opened is no news.
    if (known !== null) for (const question of open) if (!known.has(question.id)) void notify(question)
  }
}

export const wantsNotifications = (): boolean => localStorage.getItem(NOTIFY_KEY) === 'yes'
export const setWantsNotifications = (isWanted: boolean): void =>
  localStorage.setItem(NOTIFY_KEY, isWanted ? 'yes' : 'no')

async function notify({ id, message }: Escalation): Promise<void> {
  const isWanted = wantsNotifications() && 'Notification' in globalThis && Notification.permission === 'granted'
  if (!isWanted || document.visibilityState === 'visible') return
  const registration = await navigator.serviceWorker.getRegistration()
  // Several tabs tell about the same question: the tag makes it one notification.
  await registration?.showNotification('Holdfast needs you', {
    body: message,
    tag: id,
    data: { href: `#/inbox?item=${id}` },
  })
}
