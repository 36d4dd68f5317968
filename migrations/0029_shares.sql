-- Public pages of runs.
CREATE TABLE share (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  runId TEXT NOT NULL,                  -- of a flow test or of an audit
  tokenHash BLOB NOT NULL UNIQUE,       -- SHA-256 of the token in its address, which is not kept
  expiresAt INTEGER NOT NULL,
  revokedAt INTEGER,                    -- null: nobody ended it
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX shareByRun ON share (runId, createdAt);
