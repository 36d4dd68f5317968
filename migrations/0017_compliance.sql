-- Findings of personal data and of consent, and the patterns that an organization takes for personal data beside ours.
ALTER TABLE org ADD COLUMN piiPatterns TEXT NOT NULL DEFAULT '[]';   -- JSON: [{name, pattern}]

ALTER TABLE eventFile ADD COLUMN lookedAt INTEGER;             -- when all of its events had been looked through; null: not yet

CREATE TABLE finding (
  id INTEGER PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  vendor TEXT NOT NULL,                               -- masked, as key and example
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  count REAL NOT NULL,                                -- values, weighted
  formed REAL NOT NULL,                               -- values that have the form of the kind; those of count are among them
  example TEXT NOT NULL,
  firstSeenAt INTEGER NOT NULL,
  lastSeenAt INTEGER NOT NULL,
  action TEXT NOT NULL DEFAULT 'watch' CHECK (action IN ('watch', 'file', 'ignore')),
  note TEXT,
  alertId TEXT,                                       -- what came later is judged by it; null: nothing was filed
  issueId TEXT,
  UNIQUE (orgId, vendor, key, kind)
) STRICT;
CREATE INDEX findingByAge ON finding (orgId, lastSeenAt);

CREATE TABLE findingDomain (                          -- where it was seen
  findingId INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  PRIMARY KEY (findingId, domainId)
) STRICT, WITHOUT ROWID;
CREATE INDEX findingDomainByDomain ON findingDomain (domainId);
