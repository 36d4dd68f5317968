-- Changes that may explain an issue: releases, libraries, settings. Each change is monitored and receives a verdict.
CREATE TABLE change (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  source TEXT NOT NULL,
  ref TEXT NOT NULL,
  title TEXT NOT NULL,
  occurredAt INTEGER NOT NULL,
  windowMinutes INTEGER NOT NULL,
  endsAt INTEGER NOT NULL,                -- end of the monitoring period
  status TEXT NOT NULL,                   -- watching, regressed, clean, unclear
  findings TEXT NOT NULL,                 -- JSON: {items, comparedEvents}
  lookAt INTEGER,                         -- time of the next evaluation; null: completed
  UNIQUE (domainId, source, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX changeByTime ON change (orgId, occurredAt, id);
CREATE INDEX changeOfDomain ON change (domainId, occurredAt);
CREATE INDEX changeToJudge ON change (lookAt) WHERE lookAt IS NOT NULL;

CREATE TABLE releaseSeen (                  -- versions and library URLs seen in a domain's traffic
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  source TEXT NOT NULL,                   -- version, library
  subject TEXT NOT NULL,                  -- for a library, its vendor; for a version, empty
  ref TEXT NOT NULL,                      -- the version number or the URL
  firstSeenAt INTEGER NOT NULL,
  PRIMARY KEY (domainId, source, subject, ref)
) STRICT, WITHOUT ROWID;

CREATE TABLE releaseScan (                -- one row: events received before this time have been scanned for releases
  id INTEGER PRIMARY KEY CHECK (id = 1),
  scannedTo INTEGER NOT NULL
) STRICT;
INSERT INTO releaseScan VALUES (1, 0);
