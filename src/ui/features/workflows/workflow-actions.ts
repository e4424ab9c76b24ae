import Archive from '@lucide/svelte/icons/archive'
import ArchiveRestore from '@lucide/svelte/icons/archive-restore'
import Pause from '@lucide/svelte/icons/pause'
import Play from '@lucide/svelte/icons/play'
import Zap from '@lucide/svelte/icons/zap'
import type { WorkflowStatus } from '#engine/model/workflow.ts'
import type { WorkflowView } from '#worker/api.ts'
import type { App } from '../../app-context.ts'
import type { Icon } from '../../kit/look.ts'

export interface WorkflowAction {
  id: 'run' | 'pause' | 'resume' | 'archive' | 'restore'
  label: string
  icon: Icon
  run: () => void
}

type Target = Pick<WorkflowView, 'id' | 'name' | 'status' | 'block'>

/** Which moves a status allows; the same as the engine's own table, which has the last word. */
const offered: Record<WorkflowStatus, readonly WorkflowAction['id'][]> = {
  draft: ['resume', 'archive'],
  active: ['run', 'pause', 'archive'],
  paused: ['resume', 'archive'],
  archived: ['restore'],
}

/** What a person can do with a workflow in its present status. What can be undone offers so. */
export function workflowActions({ engine, toasts, router }: App, target: Target): WorkflowAction[] {
  const { id, name, status, block } = target
  const undo = (run: () => Promise<unknown>) => ({ label: 'Undo', run: () => void run() })
  const actions: Record<WorkflowAction['id'], WorkflowAction> = {
    run: { id: 'run', label: 'Run now', icon: Zap, run: () => void runNow() },
    pause: {
      id: 'pause',
      label: 'Pause',
      icon: Pause,
      run: () =>
        void toasts.tell(
          engine.pauseWorkflow(id),
          `Paused “${name}”`,
          undo(() => engine.resumeWorkflow(id)),
        ),
    },
    resume: {
      id: 'resume',
      label: status === 'draft' ? 'Activate' : 'Resume',
      icon: Play,
      run: () =>
        void toasts.tell(
          engine.resumeWorkflow(id),
          `“${name}” is active`,
          undo(() => engine.pauseWorkflow(id)),
        ),
    },
    archive: {
      id: 'archive',
      label: 'Archive',
      icon: Archive,
      run: () =>
        void toasts.tell(
          engine.archiveWorkflow(id),
          `Archived “${name}”`,
          undo(() => engine.restoreWorkflow(id)),
        ),
    },
    restore: {
      id: 'restore',
      label: 'Restore',
      icon: ArchiveRestore,
      run: () => void toasts.tell(engine.restoreWorkflow(id), `Restored “${name}”: it is paused`),
    },
  }

  async function runNow(): Promise<void> {
    const started = await engine.runWorkflow(id)
    if (!started.ok) {
      toasts.failed(started.error)
      return
    }
    const { runId } = started.value
    toasts.done(`“${name}” is running`, { label: 'Show the run', run: () => router.go(`#/runs/${runId}`) })
  }

  // What is blocked cannot run: its question comes first.
  return offered[status].filter((action) => action !== 'run' || block === null).map((action) => actions[action])
}
