-- Several agents working on one objective. Names follow the decision record that sessions come from: agent_id, event_type and
-- timestamp rather than id and …_at. Events and messages are AUTOINCREMENT: an id that was once told to somebody is never given
-- to another row, also when the rows at the end are gone.

CREATE TABLE sessions (
  id TEXT PRIMARY KEY NOT NULL,
  objective TEXT NOT NULL CHECK (objective <> ''),
  strategy TEXT NOT NULL CHECK (strategy IN ('parallel', 'sequential', 'adaptive', 'pipeline')),
  state TEXT NOT NULL CHECK (state IN ('created', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  on_failure TEXT NOT NULL CHECK (on_failure IN ('stop', 'continue', 'ask')),
  max_parallel INTEGER CHECK (max_parallel >= 1),
  agent_count INTEGER NOT NULL CHECK (agent_count >= 0),
  completed_agents INTEGER NOT NULL CHECK (completed_agents >= 0),
  failed_agents INTEGER NOT NULL CHECK (failed_agents >= 0),
  metadata TEXT NOT NULL CHECK (json_valid(metadata) AND json_type(metadata) = 'object'),
  error_message TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  restored_at INTEGER,
  CONSTRAINT a_finished_session_has_its_end CHECK (
    (state IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)
  ),
  CONSTRAINT a_session_under_way_was_started CHECK (
    started_at IS NOT NULL OR state IN ('created', 'cancelled')
  ),
  CONSTRAINT counters_fit CHECK (completed_agents + failed_agents <= agent_count),
  CONSTRAINT only_a_finished_session_is_restored CHECK (restored_at IS NULL OR completed_at IS NOT NULL)
) STRICT;
CREATE INDEX sessions_unfinished ON sessions (state, id) WHERE completed_at IS NULL;
CREATE INDEX sessions_finished ON sessions (completed_at, id) WHERE completed_at IS NOT NULL;

-- The private workflow of an agent goes with its session.
ALTER TABLE workflows ADD COLUMN session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE;
CREATE INDEX workflows_of_session ON workflows (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE session_agents (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL UNIQUE,
  "key" TEXT NOT NULL CHECK ("key" <> ''),
  role TEXT NOT NULL CHECK (role <> ''),
  instance INTEGER NOT NULL CHECK (instance >= 1),
  position INTEGER NOT NULL CHECK (position >= 0),
  -- A task in words is kept as it is, anything else as JSON.
  task TEXT NOT NULL,
  task_type TEXT NOT NULL CHECK (task_type IN ('text', 'json')),
  state TEXT NOT NULL CHECK (
    state IN ('pending', 'running', 'paused', 'blocked', 'completed', 'failed', 'cancelled', 'skipped')
  ),
  dependencies TEXT NOT NULL CHECK (json_valid(dependencies) AND json_type(dependencies) = 'array'),
  stage INTEGER CHECK (stage >= 0),
  workflow_id TEXT REFERENCES workflows (id) ON DELETE SET NULL,
  run_id TEXT,
  exit_code INTEGER,
  output TEXT CHECK (json_valid(output)),
  error_message TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  PRIMARY KEY (session_id, agent_id),
  UNIQUE (session_id, position),
  UNIQUE (session_id, "key"),
  CONSTRAINT a_task_that_is_json_is_json CHECK (task_type = 'text' OR json_valid(task)),
  CONSTRAINT a_finished_agent_has_its_end CHECK (
    (state IN ('completed', 'failed', 'cancelled', 'skipped')) = (completed_at IS NOT NULL)
  ),
  CONSTRAINT exit_code_tells_the_end CHECK (
    exit_code IS CASE state WHEN 'completed' THEN 0 WHEN 'failed' THEN 1 END
  ),
  CONSTRAINT an_agent_under_way_was_started CHECK (
    started_at IS NOT NULL OR state IN ('pending', 'cancelled', 'skipped')
  )
) STRICT;
CREATE UNIQUE INDEX session_agents_of_workflow ON session_agents (workflow_id) WHERE workflow_id IS NOT NULL;

CREATE TABLE session_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  timestamp INTEGER NOT NULL,
  event_type TEXT NOT NULL CHECK (
    event_type IN (
      'session_created', 'session_started', 'session_paused', 'session_resumed', 'session_completed', 'session_failed',
      'session_cancelled', 'session_restored', 'agent_added', 'agent_started', 'agent_paused', 'agent_resumed',
      'agent_blocked', 'agent_unblocked', 'agent_completed', 'agent_failed', 'agent_cancelled', 'agent_skipped',
      'agent_retried', 'agent_output', 'context_set', 'message_sent', 'message_read'
    )
  ),
  agent_id TEXT,
  data TEXT NOT NULL CHECK (json_valid(data) AND json_type(data) = 'object')
) STRICT;
CREATE INDEX session_events_of_session ON session_events (session_id, id);
CREATE TRIGGER session_events_are_append_only BEFORE UPDATE ON session_events
BEGIN
  SELECT RAISE(ABORT, 'the audit trail of a session is append-only');
END;

CREATE TABLE session_context (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  "key" TEXT NOT NULL CHECK ("key" <> ''),
  value TEXT NOT NULL CHECK (json_valid(value)),
  updated_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, "key")
) STRICT;

CREATE TABLE session_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  from_agent_id TEXT NOT NULL,
  to_agent_id TEXT NOT NULL,
  to_role TEXT,
  body TEXT NOT NULL CHECK (json_valid(body)),
  sent_at INTEGER NOT NULL,
  -- The attempt whose prepare saw it: it counts as read when that attempt commits.
  seen_by_run_id TEXT,
  read_at INTEGER
) STRICT;
CREATE INDEX session_messages_of_session ON session_messages (session_id, id);
CREATE INDEX session_messages_unread ON session_messages (to_agent_id, id) WHERE read_at IS NULL;

-- What retention took out of the tables: one compressed JSON document for each session or run.
CREATE TABLE archives (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('session', 'run')),
  subject_id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  finished_at INTEGER NOT NULL,
  archived_at INTEGER NOT NULL,
  -- False while the rows it was made from are still being deleted, or were brought back.
  is_put_away INTEGER NOT NULL CHECK (is_put_away IN (0, 1)),
  json_bytes INTEGER NOT NULL CHECK (json_bytes > 0),
  document BLOB NOT NULL
) STRICT;
-- Finished runs by age, for retention.
CREATE INDEX script_runs_finished ON script_runs (end_timestamp, id) WHERE end_timestamp IS NOT NULL;
