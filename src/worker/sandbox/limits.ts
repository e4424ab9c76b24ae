import { failure, type Failure } from '#engine/model/errors.ts'
import type { SandboxLimits } from '#engine/ports/sandbox.ts'

const KiB = 1024
const MiB = 1024 * KiB

export type LimitName = keyof SandboxLimits

interface Limit {
  byDefault: number
  /** What the host can bear, whatever a workflow asks for. */
  atMost: number
  sentence: (value: string) => string
  show: (value: number) => string
}

const seconds = (ms: number) => `${ms / 1000} s`
const count = (value: number) => value.toLocaleString('en')
const bytes = (value: number) => {
  if (value >= MiB) return `${+(value / MiB).toFixed(2)} MiB`
  if (value >= KiB) return `${+(value / KiB).toFixed(2)} KiB`
  return `${value} bytes`
}

/** The linear memory of every QuickJS instance. It never grows: growth inside a job corrupts the library's views of it. */
export const LINEAR_MEMORY_BYTES = 64 * MiB

/** 7.2, one line per limit: what it is, what the host can bear, and what a person is told when it is hit. */
const limits: Record<LimitName, Limit> = {
  cpuMs: {
    byDefault: 5_000,
    atMost: 60_000,
    sentence: (value) => `The script took too long: it computed for more than ${value} in one phase.`,
    show: seconds,
  },
  fuel: {
    byDefault: 200_000,
    atMost: 2_400_000,
    sentence: (value) => `The script took too long: it used more than ${value} units of fuel in one phase.`,
    show: count,
  },
  wallMs: {
    byDefault: 60_000,
    atMost: 600_000,
    sentence: (value) => `The script took too long: the phase was not over after ${value}.`,
    show: seconds,
  },
  memoryBytes: {
    byDefault: LINEAR_MEMORY_BYTES,
    atMost: LINEAR_MEMORY_BYTES,
    sentence: (value) => `The script used more than ${value} of memory.`,
    show: bytes,
  },
  stackBytes: {
    byDefault: 128 * KiB,
    atMost: 128 * KiB,
    sentence: (value) => `The script nested its calls or its data too deeply: the stack of ${value} is used up.`,
    show: bytes,
  },
  valueBytes: {
    byDefault: 8 * MiB,
    atMost: 8 * MiB,
    sentence: (value) => `The script passed a value of more than ${value} in or out.`,
    show: bytes,
  },
  stateBytes: {
    byDefault: 1 * MiB,
    atMost: 8 * MiB,
    sentence: (value) => `The handler returned a state of more than ${value}.`,
    show: bytes,
  },
  logLines: {
    byDefault: 1_000,
    atMost: 10_000,
    sentence: (value) => `The script wrote more than ${value} log lines in one phase.`,
    show: count,
  },
  logBytes: {
    byDefault: 256 * KiB,
    atMost: 4 * MiB,
    sentence: (value) => `The script wrote more than ${value} of log in one phase.`,
    show: bytes,
  },
  errorChars: {
    byDefault: 2_000,
    atMost: 20_000,
    sentence: (value) => `The error is longer than ${value} characters.`,
    show: count,
  },
  hostCallsInFlight: {
    byDefault: 64,
    atMost: 256,
    sentence: (value) => `The script had more than ${value} calls on ctx under way at once.`,
    show: count,
  },
}

const limitNames = Object.keys(limits) as LimitName[]

export const isLimitName = (name: unknown): name is LimitName => limitNames.some((known) => known === name)

/** A workflow may ask for less or more than the default, never for more than the host can bear, never for nothing. */
export function resolveLimits(wanted: Partial<SandboxLimits> = {}): SandboxLimits {
  const resolved = {} as SandboxLimits
  for (const name of limitNames) {
    const { byDefault, atMost } = limits[name]
    const value = wanted[name]
    resolved[name] = value !== undefined && value > 0 ? Math.min(value, atMost) : byDefault
  }
  return resolved
}

/** Names the limit and how to raise it. */
export function limitFailure(name: LimitName, value: number): Failure {
  const { atMost, sentence, show } = limits[name]
  const remedy =
    value < atMost
      ? `Do less in one phase, or raise the limit "${name}" in the workflow's settings (at most ${show(atMost)}).`
      : `Do less in one phase: the limit "${name}" is as high as it can be.`
  return failure('logic', `${sentence(show(value))} ${remedy}`)
}
