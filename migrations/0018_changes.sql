-- Changes that may explain an issue: releases, libraries, settings. Each is watched, and gets a verdict.
CREATE TABLE change (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  source TEXT NOT NULL,
  ref TEXT NOT NULL,
  title TEXT NOT NULL,
  occurredAt INTEGER NOT NULL,
  windowMinutes INTEGER NOT NULL,
  endsAt INTEGER NOT NULL,                -- of the watch window
  status TEXT NOT NULL,                   -- watching, regressed, clean, unclear
  findings TEXT NOT NULL,                 -- JSON: {items, comparedEvents}
  lookAt INTEGER,                         -- when it is judged next; null: never again
  UNIQUE (domainId, source, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX changeByTime ON change (orgId, occurredAt, id);
CREATE INDEX changeOfDomain ON change (domainId, occurredAt);
CREATE INDEX changeToJudge ON change (lookAt) WHERE lookAt IS NOT NULL;

CREATE TABLE releaseSeen (                  -- versions and addresses of libraries that a domain's traffic showed
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  source TEXT NOT NULL,                   -- version, library
  subject TEXT NOT NULL,                  -- of a library the vendor; of a version empty
  ref TEXT NOT NULL,                      -- the number; the address
  firstSeenAt INTEGER NOT NULL,
  PRIMARY KEY (domainId, source, subject, ref)
) STRICT, WITHOUT ROWID;

CREATE TABLE releaseScan (                -- one row: events received before this were looked through for releases
  id INTEGER PRIMARY KEY CHECK (id = 1),
  scannedTo INTEGER NOT NULL
) STRICT;
INSERT INTO releaseScan VALUES (1, 0);
