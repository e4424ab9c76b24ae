import type { Component } from 'svelte'
import { createSubscriber } from 'svelte/reactivity'
import { matchPath, parseHash, type Place } from './hash.ts'

export interface ScreenProps {
  /** What the `:names` of the route's path stand for. */
  params: Readonly<Record<string, string>>
}

/** Screens of routes without `:names` need not take any props. */
export type Screen = Component<ScreenProps> | Component<Record<string, never>>

export interface Route {
  /** `/workflows/:id/:tab?`: a trailing `?` may be absent. */
  path: string
  /** For the window's title until the screen knows better. */
  title: string
  /** An own chunk each: `() => import('./features/…/x-screen.svelte')`. */
  load: (params: Readonly<Record<string, string>>) => Promise<{ default: Screen }>
}

export interface Matched {
  route: Route
  params: Record<string, string>
}

/** Where the user is: always what the address bar says, so that every selection has a URL and Back works. */
export class Router {
  readonly #routes: readonly Route[]
  readonly #subscribe = createSubscriber((update) => {
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  })

  constructor(routes: readonly Route[]) {
    this.#routes = routes
  }

  get place(): Place {
    this.#subscribe()
    return parseHash(location.hash)
  }

  /** Null for an address that leads nowhere. */
  get matched(): Matched | null {
    const { path } = this.place
    for (const route of this.#routes) {
      const params = matchPath(route.path, path)
      if (params) return { route, params }
    }
    return null
  }

  /** One value of the address's `?name=value`; empty when it is not there. */
  query(name: string): string {
    return this.place.query.get(name) ?? ''
  }

  go(href: string): void {
    location.hash = href
  }

  /** Changes what is after the `?` without a step in the history: filters and selections. Empty values go. */
  setQuery(changes: Readonly<Record<string, string>>): void {
    const { path, query } = parseHash(location.hash)
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') query.delete(name)
      else query.set(name, value)
    }
    const search = query.toString()
    const url = `#${path}${search === '' ? '' : `?${search}`}`
    if (url === location.hash) return
    history.replaceState(history.state, '', url)
    dispatchEvent(new HashChangeEvent('hashchange'))
  }
}
