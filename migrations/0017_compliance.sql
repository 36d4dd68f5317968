-- Findings of personal data and missing consent, and an organization's patterns for personal data in addition to the
-- built-in patterns.
ALTER TABLE org ADD COLUMN piiPatterns TEXT NOT NULL DEFAULT '[]';   -- JSON: [{name, pattern}]

ALTER TABLE eventFile ADD COLUMN lookedAt INTEGER;             -- when all events of the file had been checked; null: not yet

CREATE TABLE finding (
  id INTEGER PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  vendor TEXT NOT NULL,                               -- masked, like key and example
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  count REAL NOT NULL,                                -- values, weighted
  formed REAL NOT NULL,                               -- values that have the format of the kind, including those of count
  example TEXT NOT NULL,
  firstSeenAt INTEGER NOT NULL,
  lastSeenAt INTEGER NOT NULL,
  action TEXT NOT NULL DEFAULT 'watch' CHECK (action IN ('watch', 'file', 'ignore')),
  note TEXT,
  alertId TEXT,                                       -- alert that evaluates later events; null: no issue was filed
  issueId TEXT,
  UNIQUE (orgId, vendor, key, kind)
) STRICT;
CREATE INDEX findingByAge ON finding (orgId, lastSeenAt);

CREATE TABLE findingDomain (                          -- domains on which the finding was seen
  findingId INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  PRIMARY KEY (findingId, domainId)
) STRICT, WITHOUT ROWID;
CREATE INDEX findingDomainByDomain ON findingDomain (domainId);
