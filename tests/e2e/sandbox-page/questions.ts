/** Everything that was not as expected, by the name of the hostile script. */
export type Disappointments = Record<string, string[]>

export type SandboxQuestion =
  | { ask: 'hostile'; from: number; to: number }
  | { ask: 'source'; source: string }
  | { ask: 'eval' }
  | { ask: 'latency'; hogs: number; times: number }

export type SandboxAnswer<Q extends SandboxQuestion> = Q['ask'] extends 'hostile'
  ? Disappointments
  : Q['ask'] extends 'latency'
    ? number[]
    : string
