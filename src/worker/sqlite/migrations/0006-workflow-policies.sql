-- What a workflow has decided for itself; null is what holds everywhere.
ALTER TABLE workflows ADD COLUMN retry_policy TEXT
  CONSTRAINT retry_policy_is_an_object CHECK (json_valid(retry_policy) AND json_type(retry_policy) = 'object');
ALTER TABLE workflows ADD COLUMN retention_days INTEGER CHECK (retention_days BETWEEN 0 AND 36500);
