/** What must hold between a session, its agents and their private workflows. Each query yields one sentence per breach. */

const COUNTERS_OFF = `
  SELECT format('Session %s counts %d agents, %d completed and %d failed, but its rows say %d, %d and %d.', s.id,
    s.agent_count, s.completed_agents, s.failed_agents, count(a.agent_id), coalesce(sum(a.state = 'completed'), 0),
    coalesce(sum(a.state = 'failed'), 0)) AS breach
  FROM sessions s LEFT JOIN session_agents a ON a.session_id = s.id
  GROUP BY s.id
  HAVING s.agent_count <> count(a.agent_id) OR s.completed_agents <> coalesce(sum(a.state = 'completed'), 0)
    OR s.failed_agents <> coalesce(sum(a.state = 'failed'), 0)`

/** A session that was cancelled may have agents that still finish what is past its mutation, or ask about it. */
const AGENT_AGAINST_ITS_SESSION = `
  SELECT format('Agent %s is %s, but its session %s is %s.', a.agent_id, a.state, s.id, s.state) AS breach
  FROM sessions s CROSS JOIN session_agents a ON a.session_id = s.id
  WHERE CASE s.state
    WHEN 'created' THEN a.state <> 'pending'
    WHEN 'running' THEN a.state IN ('paused', 'cancelled')
    WHEN 'paused' THEN a.state IN ('running', 'cancelled')
    WHEN 'completed' THEN a.state <> 'completed'
    WHEN 'failed' THEN a.state NOT IN ('completed', 'failed', 'skipped')
    ELSE a.state IN ('pending', 'paused') END`

const AGENT_AGAINST_ITS_WORKFLOW = `
  SELECT format('Agent %s is %s, but its workflow %s is %s.', a.agent_id, a.state, w.id, w.status) AS breach
  FROM session_agents a CROSS JOIN workflows w ON w.id = a.workflow_id
  WHERE CASE a.state
    WHEN 'pending' THEN w.status = 'active'
    WHEN 'running' THEN w.status <> 'active'
    WHEN 'paused' THEN w.status <> 'paused'
    WHEN 'completed' THEN w.status <> 'archived'
    ELSE w.status = 'active' AND a.state <> 'blocked' END`

const AGENT_AGAINST_ITS_BLOCK = `
  SELECT format('Agent %s is %s, but its workflow %s is %s.', a.agent_id, a.state, w.id,
    iif(w.block_run_id IS NULL, 'not blocked', 'blocked')) AS breach
  FROM session_agents a CROSS JOIN workflows w ON w.id = a.workflow_id
  WHERE (a.state = 'blocked') <> (w.block_run_id IS NOT NULL)`

const AGENT_WITHOUT_WORKFLOW = `
  SELECT format('Agent %s is %s and has lost its workflow.', agent_id, state) AS breach FROM session_agents
  WHERE workflow_id IS NULL AND completed_at IS NULL`

const STARTED_TOO_EARLY = `
  SELECT format('Agent %s is %s, but %s, which it depends on, is %s.', a.agent_id, a.state, needed.agent_id, needed.state)
    AS breach
  FROM session_agents a CROSS JOIN json_each(a.dependencies) d
  CROSS JOIN session_agents needed ON needed.session_id = a.session_id AND needed."key" = d.value
  WHERE a.state IN ('running', 'paused', 'blocked', 'completed') AND needed.state <> 'completed'`

const TOO_MANY_AT_ONCE = `
  SELECT format('Session %s has %d agents under way at once.', s.id, count(*)) AS breach
  FROM sessions s CROSS JOIN session_agents a ON a.session_id = s.id
  WHERE a.state IN ('running', 'paused', 'blocked')
  GROUP BY s.id HAVING count(*) > iif(s.strategy = 'sequential', 1, coalesce(s.max_parallel, count(*)))`

export const SESSION_INVARIANTS: readonly string[] = [
  COUNTERS_OFF,
  AGENT_AGAINST_ITS_SESSION,
  AGENT_AGAINST_ITS_WORKFLOW,
  AGENT_AGAINST_ITS_BLOCK,
  AGENT_WITHOUT_WORKFLOW,
  STARTED_TOO_EARLY,
  TOO_MANY_AT_ONCE,
]
