/** The four places where user code runs, and what each may do there (1.3). */
export type OperationKind =
  'topic_read' | 'topic_publish' | 'tool_read' | 'tool_mutation' | 'session_read' | 'session_write'
export type PhaseName = 'producer' | 'prepare' | 'mutate' | 'next'

const allowedPhases: Readonly<Record<OperationKind, readonly PhaseName[]>> = {
  topic_read: ['prepare'],
  topic_publish: ['producer', 'next'],
  tool_read: ['producer', 'prepare'],
  tool_mutation: ['mutate'],
  session_read: ['prepare'],
  session_write: ['next'],
}

export const topicOperations: Readonly<Record<string, OperationKind>> = {
  'topics.peek': 'topic_read',
  'topics.getByIds': 'topic_read',
  'topics.publish': 'topic_publish',
}

/** Only agents of a session have these. */
export const sessionOperations: Readonly<Record<string, OperationKind>> = {
  'session.context.get': 'session_read',
  'session.inbox': 'session_read',
  'session.context.set': 'session_write',
  'session.send': 'session_write',
  'session.output': 'session_write',
}

const describePhases = (phases: readonly PhaseName[]): string => phases.map((phase) => `\`${phase}\``).join(' and ')

/** Null when allowed; otherwise the sentence that says what was tried, where, and where it belongs. */
export const phaseViolation = (operation: string, kind: OperationKind, phase: PhaseName): string | null => {
  const allowed = allowedPhases[kind]
  if (allowed.includes(phase)) return null
  return `\`${operation}\` cannot be used in \`${phase}\`: it is allowed in ${describePhases(allowed)} only.`
}
