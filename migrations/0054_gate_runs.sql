-- Runs of the release gate, which pipelines report.
CREATE TABLE gateRun (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  domainId TEXT REFERENCES domain ON DELETE SET NULL,
  name TEXT NOT NULL,
  ref TEXT,                             -- commit or version of the release; null: unknown
  status TEXT NOT NULL,
  problems INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  approvedAt INTEGER,                   -- time of the approval as a baseline; null: not approved
  approvedBy TEXT,                      -- id of the user
  report TEXT NOT NULL                  -- JSON
) STRICT;
CREATE INDEX gateRunByOrg ON gateRun (orgId, id);
CREATE INDEX gateRunByRef ON gateRun (orgId, ref, id);
CREATE INDEX gateRunByDomain ON gateRun (domainId);
