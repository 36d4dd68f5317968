-- Audits: each is one crawl of a site, with the pages found. Stored for 400 days.
CREATE TABLE audit (
  id TEXT PRIMARY KEY,                    -- run_…
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  seriesId TEXT NOT NULL,                 -- id of the first audit with this name, to which issues refer
  name TEXT NOT NULL,
  domainId TEXT REFERENCES domain ON DELETE SET NULL,
  input TEXT NOT NULL,                    -- JSON, including defaults
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'finished', 'failed')),
  region TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER,
  error TEXT,
  summary TEXT NOT NULL,                  -- JSON
  differences TEXT,                       -- JSON: {since, pages}; null: no earlier audit to compare with
  nextAt INTEGER                          -- when the next audit with this name starts automatically; null: never
) STRICT;
CREATE INDEX auditOfName ON audit (orgId, name, id);
CREATE INDEX auditAtWork ON audit (status, id) WHERE status IN ('queued', 'running');
CREATE INDEX auditDue ON audit (nextAt) WHERE nextAt IS NOT NULL;

CREATE TABLE auditPage (
  auditId TEXT NOT NULL REFERENCES audit ON DELETE CASCADE,
  number INTEGER NOT NULL,                -- from 1, in the order in which pages were found
  page TEXT NOT NULL,                     -- JSON
  PRIMARY KEY (auditId, number)
) STRICT, WITHOUT ROWID;
