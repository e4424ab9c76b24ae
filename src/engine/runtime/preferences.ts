import { engineError } from '../model/errors.ts'
import type { Preferences, SavedQuery } from '../model/preferences.ts'
import type { Result } from '../model/result.ts'
import { err, ok } from '../model/result.ts'
import type { SettingReads } from '../ports/store.ts'
import type { EnginePorts } from './ports.ts'
import type { Transitions } from './transitions/index.ts'

const PREFERENCES = 'preferences'
const QUERIES = 'sql:saved'
/** One renderer bears about 125 WebAssembly memories: spec 7. */
const MOST_PARALLEL = 32
const MOST_QUERIES = 200
const LONGEST_NAME = 100
const LONGEST_SQL = 100_000

/** What was chosen over what holds by default. */
export const preferencesOf = (settings: SettingReads, defaults: Preferences): Preferences => {
  const text = settings.get(PREFERENCES)
  return text === undefined ? defaults : { ...defaults, ...(JSON.parse(text) as Partial<Preferences>) }
}

const queriesOf = (settings: SettingReads): SavedQuery[] => {
  const text = settings.get(QUERIES)
  return text === undefined ? [] : (JSON.parse(text) as SavedQuery[])
}

interface PreferenceParts {
  ports: EnginePorts
  transitions: Transitions
  defaults: Preferences
  onChanged(preferences: Preferences): void
}

/** Choices for the whole engine, and the queries that a person keeps. Each is on disk before it is answered. */
export const createPreferenceCommands = ({ ports, transitions, defaults, onChanged }: PreferenceParts) => {
  const { store, clock, durability } = ports

  const keep = async (key: string, value: unknown): Promise<Result<null>> => {
    transitions.keepSetting(key, JSON.stringify(value))
    try {
      await durability.barrier()
      return ok(null)
    } catch {
      return err(engineError('read_only', 'Another tab has taken over meanwhile: nothing was saved. Try it again.'))
    }
  }
  const refuse = (message: string): Promise<Result<null>> => Promise.resolve(err(engineError('invalid_input', message)))

  return {
    getPreferences: (): Preferences => preferencesOf(store.settings, defaults),
    setPreferences: async (change: Partial<Preferences>): Promise<Result<null>> => {
      const problem = preferencesProblem(change)
      if (problem !== null) return refuse(problem)
      const preferences = { ...preferencesOf(store.settings, defaults), ...change }
      const kept = await keep(PREFERENCES, preferences)
      if (kept.ok) onChanged(preferences)
      return kept
    },
    /** By name. */
    listSavedQueries: (): SavedQuery[] => queriesOf(store.settings),
    /** Under a name that is there already it replaces that one. */
    saveQuery: async (query: { name: string; sql: string }): Promise<Result<null>> => {
      const problem = queryProblem(query)
      if (problem !== null) return refuse(problem)
      const name = query.name.trim()
      const others = queriesOf(store.settings).filter((other) => other.name !== name)
      if (others.length >= MOST_QUERIES) return refuse(`There are ${MOST_QUERIES} saved queries. Remove one first.`)
      const all = [...others, { name, sql: query.sql, savedAt: clock.now() }]
      return keep(
        QUERIES,
        all.sort((a, b) => (a.name < b.name ? -1 : 1)),
      )
    },
    removeQuery: async (name: string): Promise<Result<null>> => {
      const saved = queriesOf(store.settings)
      const left = saved.filter((query) => query.name !== name)
      if (left.length === saved.length) {
        return err(engineError('not_found', `There is no saved query "${name}".`))
      }
      return keep(QUERIES, left)
    },
  }
}

/** Also for callers that no compiler has looked at. Null when it can be kept. */
const preferencesProblem = (change: unknown): string | null => {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) {
    return 'The change must be an object { maxParallelWorkflows? }.'
  }
  const stranger = Object.keys(change).find((key) => key !== 'maxParallelWorkflows')
  if (stranger !== undefined) return `There is no preference "${stranger}". There is maxParallelWorkflows.`
  const { maxParallelWorkflows: most } = change as Partial<Record<keyof Preferences, unknown>>
  const isFine = most === undefined || (typeof most === 'number' && isBetween(most, 1, MOST_PARALLEL))
  return isFine ? null : `Side by side must be a whole number from 1 to ${MOST_PARALLEL}.`
}

const queryProblem = (query: unknown): string | null => {
  const { name, sql } = (query ?? {}) as Partial<Record<keyof SavedQuery, unknown>>
  if (typeof name !== 'string' || name.trim() === '') return 'Give the query a name.'
  if (name.trim().length > LONGEST_NAME) return `The name is too long: at most ${LONGEST_NAME} characters.`
  if (typeof sql !== 'string' || sql.trim() === '') return 'There is no query to save: write some SQL first.'
  return sql.length > LONGEST_SQL ? `The query is too long: at most ${LONGEST_SQL} characters.` : null
}

const isBetween = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most
