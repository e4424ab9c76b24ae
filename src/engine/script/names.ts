const MAX_NAME_CHARS = 64
const MAX_WORKFLOW_NAME_CHARS = 100

/** What is wrong with the name of a handler or a topic, as a sentence; undefined when it is good. */
export const nameProblem = (kind: string, name: string): string | undefined =>
  problemOf(kind, name, MAX_NAME_CHARS, /[^A-Za-z0-9_.-]/u, 'letters (A-Z), digits, "_", "." and "-"')

/** A workflow is named for people: "Inbox triage". */
export const workflowNameProblem = (name: string): string | undefined =>
  problemOf(
    'workflow',
    name,
    MAX_WORKFLOW_NAME_CHARS,
    /[^A-Za-z0-9_. -]|^ | $/u,
    'letters (A-Z), digits, "_", ".", "-" and spaces between words',
  )

function problemOf(kind: string, name: string, maxChars: number, wrong: RegExp, allowed: string): string | undefined {
  if (name === '') return `The name of a ${kind} is empty.`
  if (name.length > maxChars)
    return `The ${kind} name ${JSON.stringify(`${name.slice(0, 30)}…`)} is ${name.length} characters long; at most ${maxChars} are allowed.`
  const found = wrong.exec(name)?.[0]
  if (found === undefined) return undefined
  return `The ${kind} name ${JSON.stringify(name)} contains ${JSON.stringify(found)} where it must not. Use ${allowed} only.`
}
