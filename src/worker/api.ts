import type { Result } from '#engine/model/result.ts'

/**
 * What a page can ask of the engine, across the worker boundary. Types only: screens import this file and nothing else
 * of the worker. Every method is async and answers with a Result.
 */
export interface EngineApi {
  engineInfo(): Promise<Result<EngineInfo>>
}

export type EngineRole = 'leader' | 'follower'
export type EngineState = 'running' | 'recovering' | 'storage_full' | 'stopped'

export interface EngineInfo {
  version: string
  /** One tab leads and runs the engine; the others reach it through the leader. */
  role: EngineRole
  state: EngineState
  /** Grows with every takeover, so that an old leader can be told from the present one. */
  epoch: number
  lastRecovery: { at: number; recoveredRuns: number } | null
  nextWakeAt: number | null
  sqliteVersion: string
}
