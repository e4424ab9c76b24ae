-- When an archive was brought back to be looked at. Neither put away nor restored means that a crash came between.
ALTER TABLE archives ADD COLUMN restored_at INTEGER;
CREATE INDEX archives_not_away ON archives (id) WHERE is_put_away = 0;
