import CirclePlay from '@lucide/svelte/icons/circle-play'
import Hand from '@lucide/svelte/icons/hand'
import Hash from '@lucide/svelte/icons/hash'
import Users from '@lucide/svelte/icons/users'
import Workflow from '@lucide/svelte/icons/workflow'
import type { Session } from '#engine/model/session.ts'
import type { InboxItem, RunRow, WorkflowRow } from '#worker/api.ts'
import type { App } from '../../app-context.ts'
import type { Command } from '../../state/commands.svelte.ts'
import { relativeTime } from '../../kit/time-words.ts'
import { runLooks } from '../../looks/run-looks.ts'
import { workflowActions } from '../workflows/workflow-actions.ts'

export interface PaletteObjects {
  workflows: readonly WorkflowRow[]
  questions: readonly InboxItem[]
  runs: readonly RunRow[]
  sessions: readonly Session[]
}

/** Every object as something to go to, and what can be done with each workflow. */
export function objectCommands(app: App, { workflows, questions, runs, sessions }: PaletteObjects): Command[] {
  const { router } = app
  return [
    ...questions.map(({ id, workflowName, message }) => ({
      id,
      title: `${workflowName}: ${message}`,
      group: 'Needs you',
      icon: Hand,
      run: () => router.go(`#/inbox?item=${id}`),
    })),
    ...workflows.map(({ id, name }) => ({
      id,
      title: name,
      group: 'Workflow',
      icon: Workflow,
      run: () => router.go(`#/workflows/${id}`),
    })),
    ...workflows.flatMap((workflow) =>
      workflowActions(app, workflow).map(({ id, label, icon, run }) => ({
        id: `${workflow.id} ${id}`,
        title: `${label}: ${workflow.name}`,
        group: 'Do',
        icon,
        run,
      })),
    ),
    ...sessions.map(({ id, objective }) => ({
      id,
      title: objective,
      group: 'Session',
      icon: Users,
      run: () => router.go(`#/sessions/${id}`),
    })),
    ...runs.map(({ id, workflowName, result, startTimestamp }) => ({
      id,
      title: `${workflowName}, ${relativeTime(startTimestamp, Date.now())}, ${runLooks[result ?? 'open'].word.toLowerCase()}`,
      group: 'Run',
      icon: CirclePlay,
      run: () => router.go(`#/runs/${id}`),
    })),
  ]
}

const addressOf: Record<string, string> = { run: 'runs', hr: 'runs', wf: 'workflows', sess: 'sessions' }

/** A pasted id leads straight to what it names. */
export function idCommand({ router }: App, text: string): Command[] {
  const [, prefix = '', id = ''] = /^(run|hr|wf|sess)_(\w{10,})$/.exec(text) ?? []
  const address = addressOf[prefix]
  if (address === undefined || id === '') return []
  return [
    { id: 'pasted', title: `Go to ${text}`, group: 'Id', icon: Hash, run: () => router.go(`#/${address}/${text}`) },
  ]
}
