-- Limits of stored data. A shorter one waits for a day or a confirmation before it deletes data.
CREATE TABLE retentionLimit (
  name TEXT PRIMARY KEY,                -- retentionDays, runRetentionDays or diskBudget
  inForce INTEGER NOT NULL,             -- days or bytes; a budget of 0 is no limit
  requested INTEGER,                    -- the shorter one that waits; null without one
  requestedAt INTEGER                   -- when it was first seen; null without one
) STRICT, WITHOUT ROWID;
