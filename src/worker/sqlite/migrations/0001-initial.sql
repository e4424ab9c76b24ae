-- Ids are text that grows with age, so ORDER BY id is ORDER BY age. Times are milliseconds since 1970.
-- Everything a workflow owns hangs on it by ON DELETE CASCADE. A column that names a row without REFERENCES is either a copy
-- of what its parent already says (workflow_id) or may outlive what it names (created_by_run_id); see docs/adr/0010.

CREATE TABLE workflows (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL CHECK (name <> ''),
  status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'archived')),
  block_run_id TEXT REFERENCES handler_runs (id) DEFERRABLE INITIALLY DEFERRED,
  block_kind TEXT CHECK (
    block_kind IN ('indeterminate_mutation', 'logic_failure', 'retries_exhausted', 'auth', 'permission', 'internal_failure')
  ),
  block_message TEXT,
  active_script_id TEXT REFERENCES scripts (id) DEFERRABLE INITIALLY DEFERRED,
  active_version INTEGER NOT NULL CHECK (active_version >= 0),
  handler_config TEXT NOT NULL CHECK (json_valid(handler_config)),
  permissions TEXT NOT NULL CHECK (json_valid(permissions) AND json_type(permissions) = 'array'),
  timezone TEXT,
  budget INTEGER NOT NULL CHECK (budget >= 1),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CONSTRAINT block_is_whole_or_absent CHECK (
    (block_run_id IS NULL) = (block_kind IS NULL) AND (block_kind IS NULL) = (block_message IS NULL)
  )
) STRICT;
CREATE INDEX workflows_block ON workflows (block_run_id) WHERE block_run_id IS NOT NULL;
CREATE INDEX workflows_active_script ON workflows (active_script_id) WHERE active_script_id IS NOT NULL;

CREATE TABLE scripts (
  id TEXT PRIMARY KEY NOT NULL,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  version INTEGER NOT NULL CHECK (version >= 1),
  source TEXT NOT NULL,
  config TEXT NOT NULL CHECK (json_valid(config)),
  created_at INTEGER NOT NULL,
  UNIQUE (workflow_id, version)
) STRICT;
CREATE TRIGGER scripts_are_immutable BEFORE UPDATE ON scripts
BEGIN
  SELECT RAISE(ABORT, 'a script version is immutable: save a new version');
END;

CREATE TABLE topics (
  id INTEGER PRIMARY KEY NOT NULL,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (name <> ''),
  created_at INTEGER NOT NULL,
  UNIQUE (workflow_id, name)
) STRICT;

CREATE TABLE script_runs (
  id TEXT PRIMARY KEY NOT NULL,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  script_id TEXT NOT NULL,
  "trigger" TEXT NOT NULL CHECK ("trigger" IN ('schedule', 'manual', 'event', 'session')),
  result TEXT CHECK (result IN ('completed', 'failed', 'suspended', 'cancelled')),
  error TEXT,
  cost INTEGER NOT NULL CHECK (cost >= 0),
  handler_run_count INTEGER NOT NULL CHECK (handler_run_count >= 0),
  start_timestamp INTEGER NOT NULL,
  end_timestamp INTEGER,
  CONSTRAINT result_comes_with_the_end CHECK ((result IS NULL) = (end_timestamp IS NULL)),
  CONSTRAINT error_comes_with_the_end CHECK (error IS NULL OR end_timestamp IS NOT NULL)
) STRICT;
CREATE INDEX script_runs_of_workflow ON script_runs (workflow_id, id);
CREATE UNIQUE INDEX script_runs_one_open ON script_runs (workflow_id) WHERE end_timestamp IS NULL;

CREATE TABLE handler_runs (
  id TEXT PRIMARY KEY NOT NULL,
  script_run_id TEXT NOT NULL REFERENCES script_runs (id) ON DELETE CASCADE,
  workflow_id TEXT NOT NULL,
  script_id TEXT NOT NULL,
  handler_type TEXT NOT NULL CHECK (handler_type IN ('producer', 'consumer')),
  handler_name TEXT NOT NULL CHECK (handler_name <> ''),
  phase TEXT NOT NULL,
  status TEXT NOT NULL CHECK (
    status IN (
      'active', 'paused:transient', 'paused:approval', 'paused:reconciliation', 'failed:logic', 'failed:internal',
      'crashed', 'cancelled', 'committed'
    )
  ),
  retry_of TEXT REFERENCES handler_runs (id),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  retries_used INTEGER NOT NULL CHECK (retries_used >= 0),
  retry_at INTEGER,
  prepare_result TEXT CHECK (json_valid(prepare_result)),
  mutation_outcome TEXT CHECK (mutation_outcome IN ('applied', 'none', 'skipped')),
  mutation_result TEXT CHECK (json_valid(mutation_result)),
  input_state TEXT CHECK (json_valid(input_state)),
  output_state TEXT CHECK (json_valid(output_state)),
  error TEXT,
  error_type TEXT CHECK (error_type IN ('network', 'auth', 'permission', 'logic', 'internal')),
  error_line INTEGER,
  error_column INTEGER,
  cost INTEGER NOT NULL CHECK (cost >= 0),
  phase_times TEXT NOT NULL CHECK (json_valid(phase_times) AND json_type(phase_times) = 'array'),
  start_timestamp INTEGER NOT NULL,
  end_timestamp INTEGER,
  CONSTRAINT phase_belongs_to_the_handler_type CHECK (
    CASE handler_type
      WHEN 'producer' THEN phase IN ('pending', 'executing', 'committed')
      ELSE phase IN ('pending', 'preparing', 'prepared', 'mutating', 'mutated', 'emitting', 'committed')
    END
  ),
  CONSTRAINT committed_is_phase_and_status CHECK ((phase = 'committed') = (status = 'committed')),
  CONSTRAINT only_active_has_no_end CHECK ((status = 'active') = (end_timestamp IS NULL)),
  CONSTRAINT first_attempt_retries_nothing CHECK ((attempt = 1) = (retry_of IS NULL)),
  CONSTRAINT retry_follows_a_failure CHECK (retry_at IS NULL OR status NOT IN ('active', 'committed', 'cancelled')),
  CONSTRAINT prepare_result_comes_with_prepared CHECK (
    (prepare_result IS NULL) = (handler_type = 'producer' OR phase IN ('pending', 'preparing'))
  ),
  CONSTRAINT outcome_is_known_past_the_boundary CHECK (mutation_outcome IS NOT NULL OR phase NOT IN ('mutated', 'emitting')),
  CONSTRAINT outcome_is_unknown_before_the_boundary CHECK (
    mutation_outcome IS NULL OR (handler_type = 'consumer' AND phase IN ('mutated', 'emitting', 'committed'))
  ),
  CONSTRAINT mutation_result_is_of_an_applied_one CHECK (mutation_result IS NULL OR mutation_outcome IS 'applied'),
  CONSTRAINT error_type_has_its_error CHECK (error_type IS NULL OR error IS NOT NULL),
  CONSTRAINT error_column_has_its_line CHECK (error_column IS NULL OR error_line IS NOT NULL)
) STRICT;
CREATE INDEX handler_runs_of_script_run ON handler_runs (script_run_id, id);
CREATE UNIQUE INDEX handler_runs_one_active ON handler_runs (workflow_id) WHERE status = 'active';
CREATE UNIQUE INDEX handler_runs_one_retry ON handler_runs (retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX handler_runs_due ON handler_runs (retry_at, id) WHERE retry_at IS NOT NULL;
CREATE INDEX handler_runs_awaiting_retry ON handler_runs (workflow_id) WHERE retry_at IS NOT NULL;

CREATE TABLE events (
  id TEXT PRIMARY KEY NOT NULL,
  topic_id INTEGER NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
  workflow_id TEXT NOT NULL,
  message_id TEXT NOT NULL CHECK (message_id <> ''),
  title TEXT,
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  status TEXT NOT NULL CHECK (status IN ('pending', 'reserved', 'consumed', 'skipped')),
  reserved_by_run_id TEXT REFERENCES handler_runs (id),
  created_by_run_id TEXT,
  caused_by TEXT NOT NULL CHECK (json_valid(caused_by) AND json_type(caused_by) = 'array'),
  created_at INTEGER NOT NULL,
  UNIQUE (topic_id, message_id),
  CONSTRAINT reserved_names_its_run CHECK ((status = 'reserved') = (reserved_by_run_id IS NOT NULL))
) STRICT;
-- Only what is still to be done is indexed: a million finished events cost these two nothing.
CREATE INDEX events_pending ON events (topic_id, id) WHERE status = 'pending';
CREATE INDEX events_reserved ON events (reserved_by_run_id) WHERE reserved_by_run_id IS NOT NULL;

CREATE TABLE mutations (
  id TEXT PRIMARY KEY NOT NULL,
  handler_run_id TEXT NOT NULL UNIQUE REFERENCES handler_runs (id) ON DELETE CASCADE,
  workflow_id TEXT NOT NULL,
  tool_namespace TEXT NOT NULL,
  tool_method TEXT NOT NULL,
  params TEXT NOT NULL CHECK (json_valid(params)),
  idempotency_key TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'in_flight', 'applied', 'failed', 'indeterminate')),
  result TEXT CHECK (json_valid(result)),
  error TEXT,
  resolved_by TEXT CHECK (resolved_by IN ('user_happened', 'user_did_not_happen', 'user_skip', 'reconciled')),
  resolved_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CONSTRAINT resolved_by_and_at_go_together CHECK ((resolved_by IS NULL) = (resolved_at IS NULL)),
  CONSTRAINT only_a_made_call_is_resolved CHECK (resolved_by IS NULL OR status NOT IN ('pending', 'in_flight')),
  CONSTRAINT result_is_of_an_applied_one CHECK (result IS NULL OR status = 'applied')
) STRICT;

CREATE TABLE handler_state (
  id INTEGER PRIMARY KEY NOT NULL,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  handler_name TEXT NOT NULL CHECK (handler_name <> ''),
  state TEXT CHECK (json_valid(state)),
  wake_at INTEGER,
  updated_at INTEGER NOT NULL,
  UNIQUE (workflow_id, handler_name)
) STRICT;
CREATE INDEX handler_state_due ON handler_state (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE producer_schedules (
  id INTEGER PRIMARY KEY NOT NULL,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  producer_name TEXT NOT NULL CHECK (producer_name <> ''),
  schedule_type TEXT NOT NULL CHECK (schedule_type IN ('interval', 'cron')),
  schedule_value TEXT NOT NULL CHECK (schedule_value <> ''),
  timezone TEXT,
  next_run_at INTEGER NOT NULL,
  last_run_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (workflow_id, producer_name)
) STRICT;
CREATE INDEX producer_schedules_due ON producer_schedules (next_run_at);

CREATE TABLE escalations (
  id TEXT PRIMARY KEY NOT NULL,
  workflow_id TEXT NOT NULL,
  script_run_id TEXT NOT NULL,
  handler_run_id TEXT NOT NULL REFERENCES handler_runs (id) ON DELETE CASCADE,
  mutation_id TEXT REFERENCES mutations (id),
  kind TEXT NOT NULL CHECK (
    kind IN ('indeterminate_mutation', 'logic_failure', 'retries_exhausted', 'auth', 'permission', 'internal_failure')
  ),
  message TEXT NOT NULL,
  details TEXT NOT NULL CHECK (json_valid(details) AND json_type(details) = 'object'),
  actions TEXT NOT NULL CHECK (json_valid(actions) AND json_type(actions) = 'array'),
  resolution TEXT CHECK (resolution IN ('happened', 'did_not_happen', 'skip', 'retry', 'grant', 'reconnect', 'check_again')),
  resolution_value TEXT CHECK (json_valid(resolution_value)),
  created_at INTEGER NOT NULL,
  resolved_at INTEGER,
  CONSTRAINT resolution_and_time_go_together CHECK ((resolution IS NULL) = (resolved_at IS NULL)),
  CONSTRAINT value_comes_with_a_resolution CHECK (resolution_value IS NULL OR resolution IS NOT NULL)
) STRICT;
CREATE INDEX escalations_of_handler_run ON escalations (handler_run_id);
CREATE INDEX escalations_of_mutation ON escalations (mutation_id) WHERE mutation_id IS NOT NULL;
CREATE INDEX escalations_of_workflow ON escalations (workflow_id, id);
CREATE UNIQUE INDEX escalations_one_open ON escalations (handler_run_id) WHERE resolved_at IS NULL;

CREATE TABLE logs (
  id INTEGER PRIMARY KEY NOT NULL,
  script_run_id TEXT NOT NULL REFERENCES script_runs (id) ON DELETE CASCADE,
  handler_run_id TEXT NOT NULL,
  workflow_id TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (
    phase IN ('pending', 'executing', 'preparing', 'prepared', 'mutating', 'mutated', 'emitting', 'committed')
  ),
  level TEXT NOT NULL CHECK (level IN ('debug', 'info', 'warn', 'error')),
  message TEXT NOT NULL,
  data TEXT CHECK (json_valid(data)),
  logged_at INTEGER NOT NULL
) STRICT;
CREATE INDEX logs_of_script_run ON logs (script_run_id);

CREATE TABLE settings (
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL CHECK (json_valid(value)),
  updated_at INTEGER NOT NULL
) STRICT;
