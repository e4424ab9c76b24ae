import { ok, type Result } from '#engine/model/result.ts'
import type { EngineApi } from '#worker/api.ts'
import type { DemoPlace } from '../../state/live-demo.svelte.ts'
import { briefingTemplate } from '../gallery/session-templates.ts'
import { inboxTriageTemplate } from '../gallery/workflow-templates.ts'

/** Slow enough to watch, and to be caught in the middle of something. */
const LATENCY_MS = 900
const MAIL_EVERY_MS = 2_500
const USUAL_EVERY_MS = 20_000

/** Deploys the demo's workflow and starts its session, in a demo world that is busy and takes its time. */
export async function startDemo(engine: EngineApi): Promise<Result<DemoPlace>> {
  const others = await engine.listWorkflows()
  if (!others.ok) return others
  // Nobody else uses the demo world yet: it begins on its first day, with empty books.
  if (others.value.length === 0) await engine.resetDemo()
  await engine.setDemoKnobs({ latencyMs: LATENCY_MS })
  await engine.setDemoPace(MAIL_EVERY_MS)
  const deployed = await engine.deployWorkflow({ source: inboxTriageTemplate.source })
  if (!deployed.ok) return deployed
  const briefing = await startBriefing(engine)
  return briefing.ok ? ok({ workflowId: deployed.value.workflowId, sessionId: briefing.value }) : briefing
}

export async function startBriefing(engine: EngineApi): Promise<Result<string>> {
  const created = await engine.createSession(briefingTemplate.session)
  if (!created.ok) return created
  const { sessionId } = created.value
  const started = await engine.startSession(sessionId)
  return started.ok ? ok(sessionId) : started
}

/** Takes away what `startDemo` brought, and gives the demo world its usual pace back. */
export async function removeDemo(engine: EngineApi, { workflowId, sessionId }: DemoPlace): Promise<Result<null>> {
  await engine.setDemoKnobs({ latencyMs: 0 })
  await engine.setDemoPace(USUAL_EVERY_MS)
  // A session that has come to its end cannot be cancelled, and need not be.
  await engine.cancelSession(sessionId)
  await engine.deleteSession(sessionId)
  return engine.deleteWorkflow(workflowId)
}
