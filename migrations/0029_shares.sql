-- Public pages of runs.
CREATE TABLE share (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  runId TEXT NOT NULL,                  -- run of a flow test, or an audit
  tokenHash BLOB NOT NULL UNIQUE,       -- SHA-256 of the token in the URL; the token is not stored
  expiresAt INTEGER NOT NULL,
  revokedAt INTEGER,                    -- null: not revoked
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX shareByRun ON share (runId, createdAt);
