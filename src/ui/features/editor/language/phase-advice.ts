/** What TypeScript says about a phase violation is true but strange: one sentence says what to do instead. */
const ADVICE: readonly [RegExp, string][] = [
  [
    /does not exist on type 'ProducerContext</,
    'A producer reads the outside world and publishes. What changes something belongs into mutate of a consumer.',
  ],
  [
    /does not exist on type '(?:Agent)?PrepareContext/,
    'prepare reads and chooses. Change things in mutate, publish in next.',
  ],
  [
    /does not exist on type '(?:Agent)?MutateContext/,
    'mutate makes one call that changes something. Read in prepare and pass it on in data; publish in next.',
  ],
  [
    /does not exist on type '(?:Agent)?NextContext/,
    'next publishes and returns the new state. It calls no tools: read in prepare, change in mutate.',
  ],
  [/'publish' does not exist on type 'Reading</, 'prepare reads topics. Publish in next.'],
  [/'(?:peek|getByIds)' does not exist on type 'Publishing</, 'Here topics are published to. Read them in prepare.'],
  [
    /does not exist on type '(?:\w+Reads|\{ (?:list|rows|messages)\()/,
    'Only reading is possible here. Change things in mutate.',
  ],
  [
    /does not exist on type '(?:\w+Mutations|\{ (?:archive|append|send|comment)\()/,
    'Only changing is possible here. Read in prepare and pass it on in data.',
  ],
]

export const phaseAdvice = (message: string): string | undefined =>
  ADVICE.find(([pattern]) => pattern.test(message))?.[1]
