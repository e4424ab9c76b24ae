import type { Json } from '../model/json.ts'
import type { SessionStrategy } from '../model/session.ts'
import { nameAgents } from './session-plan.ts'

/** What is asked of a session before anything is written: an agent as its author describes it. */
export interface AgentDraft {
  key: string
  role: string
  task: Json
  source: string
  dependsOn: readonly string[]
  stage: number | null
}

export interface SessionProblem {
  message: string
  /** Keys of the agents it is about. */
  agents: string[]
  /** In the agent's own source, when its script is at fault. */
  line?: number
  column?: number
}

/** Everything that is wrong with the way the agents hang together, at once. */
export const checkAgents = (strategy: SessionStrategy, agents: readonly AgentDraft[]): SessionProblem[] => {
  if (agents.length === 0) {
    return [{ message: 'The session has no agents. Give it at least one.', agents: [] }]
  }
  return [
    ...duplicateKeys(agents),
    ...unknownDependencies(agents),
    ...cycles(agents),
    ...(strategy === 'parallel' ? dependenciesInParallel(agents) : []),
    ...(strategy === 'pipeline' ? stageProblems(agents) : []),
  ]
}

const duplicateKeys = (agents: readonly AgentDraft[]): SessionProblem[] => {
  const seen = new Map<string, number>()
  for (const { key } of agents) seen.set(key, (seen.get(key) ?? 0) + 1)
  return [...seen]
    .filter(([, times]) => times > 1)
    .map(([key, times]) => ({
      message: `${times === 2 ? 'Two' : String(times)} agents have the key "${key}". Give each its own.`,
      agents: [key],
    }))
}

const unknownDependencies = (agents: readonly AgentDraft[]): SessionProblem[] => {
  const known = new Set(agents.map(({ key }) => key))
  return agents.flatMap(({ key, dependsOn }) =>
    dependsOn
      .filter((needed) => !known.has(needed))
      .map((needed) => ({
        message: `The agent "${key}" depends on "${needed}", which is not an agent of this session.`,
        agents: [key],
      })),
  )
}

/** One problem for each way round; an agent that is only reached from a cycle is not blamed. */
const cycles = (agents: readonly AgentDraft[]): SessionProblem[] => {
  const needs = new Map(agents.map(({ key, dependsOn }) => [key, dependsOn]))
  const done = new Set<string>()
  const problems: SessionProblem[] = []
  for (const { key: root } of agents) {
    const path: { key: string; next: number }[] = done.has(root) ? [] : [{ key: root, next: 0 }]
    const onPath = new Set(path.map(({ key }) => key))
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const needed = needs.get(top.key)?.[top.next]
      top.next += 1
      if (needed === undefined) {
        path.pop()
        onPath.delete(top.key)
        done.add(top.key)
      } else if (onPath.has(needed)) {
        problems.push(cycleProblem(path.map(({ key }) => key).slice(path.findIndex(({ key }) => key === needed))))
      } else if (!done.has(needed) && needs.has(needed)) {
        path.push({ key: needed, next: 0 })
        onPath.add(needed)
      }
    }
  }
  return problems
}

const cycleProblem = (keys: string[]): SessionProblem => ({
  message:
    keys.length === 1
      ? `The agent ${nameAgents(keys)} depends on itself.`
      : `The agents ${nameAgents(keys)} wait for each other in a circle: none of them could ever start.`,
  agents: keys,
})

const dependenciesInParallel = (agents: readonly AgentDraft[]): SessionProblem[] => {
  const dependent = agents.filter(({ dependsOn }) => dependsOn.length > 0).map(({ key }) => key)
  if (dependent.length === 0) return []
  const verb = dependent.length === 1 ? 'has' : 'have'
  return [
    {
      message: `In a parallel session all agents start at once, but ${nameAgents(dependent)} ${verb} dependencies. Choose the strategy "adaptive", or take them out.`,
      agents: dependent,
    },
  ]
}

const stageProblems = (agents: readonly AgentDraft[]): SessionProblem[] => {
  const without = agents.filter(({ stage }) => stage === null).map(({ key }) => key)
  if (without.length > 0) {
    const verb = without.length === 1 ? 'has' : 'have'
    return [
      {
        message: `In a pipeline every agent has a stage, but ${nameAgents(without)} ${verb} none. Number the stages from 0.`,
        agents: without,
      },
    ]
  }
  return [...stageGaps(agents), ...dependenciesAgainstStages(agents)]
}

/** People count from 0 or from 1; both are fine, a hole is not. */
const stageGaps = (agents: readonly AgentDraft[]): SessionProblem[] => {
  const stages = [...new Set(agents.map(({ stage }) => stage ?? 0))].sort((a, b) => a - b)
  const first = stages[0] === 1 ? 1 : 0
  const gap = stages.findIndex((stage, index) => stage !== first + index)
  const after = stages[gap]
  if (after === undefined) return []
  const beyond = agents.filter(({ stage }) => stage === after).map(({ key }) => key)
  return [
    {
      message: `No agent is in stage ${String(first + gap)}, but ${nameAgents(beyond)} ${beyond.length === 1 ? 'is' : 'are'} in stage ${String(after)}. Number the stages without a gap.`,
      agents: beyond,
    },
  ]
}

const dependenciesAgainstStages = (agents: readonly AgentDraft[]): SessionProblem[] => {
  const stages = new Map(agents.map(({ key, stage }) => [key, stage ?? 0]))
  return agents.flatMap(({ key, stage, dependsOn }) =>
    dependsOn
      .filter((needed) => needed !== key && (stages.get(needed) ?? -1) >= (stage ?? 0))
      .map((needed) => ({
        message: `The agent "${key}" of stage ${String(stage)} depends on "${needed}" of stage ${String(stages.get(needed))}. In a pipeline an agent can depend on earlier stages only.`,
        agents: [key, needed],
      })),
  )
}
