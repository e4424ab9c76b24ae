-- The other half of events_pending, for lists. Two halves and not one whole: with a whole index at hand, SQLite would look for the
-- few pending events among a million finished ones.
CREATE INDEX events_not_pending ON events (topic_id, id) WHERE status <> 'pending';
