-- What a workflow has used of its daily limits is counted from the rows themselves.
CREATE INDEX mutations_of_workflow ON mutations (workflow_id, created_at);
CREATE INDEX handler_runs_charged ON handler_runs (workflow_id, start_timestamp) WHERE cost > 0;
