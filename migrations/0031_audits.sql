-- Audits: each one crawl of a site, and the pages that it saw. Kept 400 days.
CREATE TABLE audit (
  id TEXT PRIMARY KEY,                    -- run_…
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  seriesId TEXT NOT NULL,                 -- id of the first audit of that name: issues are about it
  name TEXT NOT NULL,
  domainId TEXT REFERENCES domain ON DELETE SET NULL,
  input TEXT NOT NULL,                    -- JSON, with defaults
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'finished', 'failed')),
  region TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER,
  error TEXT,
  summary TEXT NOT NULL,                  -- JSON
  differences TEXT,                       -- JSON: {since, pages}; null: there is nothing to compare with
  nextAt INTEGER                          -- when the next one of that name begins by itself; null: never
) STRICT;
CREATE INDEX auditOfName ON audit (orgId, name, id);
CREATE INDEX auditAtWork ON audit (status, id) WHERE status IN ('queued', 'running');
CREATE INDEX auditDue ON audit (nextAt) WHERE nextAt IS NOT NULL;

CREATE TABLE auditPage (
  auditId TEXT NOT NULL REFERENCES audit ON DELETE CASCADE,
  number INTEGER NOT NULL,                -- from 1, in the order in which pages were seen
  page TEXT NOT NULL,                     -- JSON
  PRIMARY KEY (auditId, number)
) STRICT, WITHOUT ROWID;
