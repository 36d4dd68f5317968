-- Flow tests, their versions, and their runs.
CREATE TABLE flowTest (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  domainId TEXT REFERENCES domain ON DELETE SET NULL,
  settings TEXT NOT NULL,               -- JSON of the settings without a column or a version
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  secrets BLOB,                         -- sealed JSON of values by name; null: none
  versionId TEXT NOT NULL,              -- id of the current version
  status TEXT NOT NULL,                 -- never_run, passed, failed
  healing TEXT NOT NULL,                -- JSON: healed steps that await a user's decision
  refused TEXT NOT NULL,                -- JSON: selectors rejected by a user, by step
  elements TEXT NOT NULL,               -- JSON: each step's element in the last run that passed without healing the step
  dueAt INTEGER,                        -- next scheduled run; null: not scheduled or disabled
  runOnChange INTEGER NOT NULL CHECK (runOnChange IN (0, 1)),
  changeAt INTEGER,                     -- time of a change to the domain that no run has followed yet
  changeEndsAt INTEGER,                 -- end of that change's monitoring period
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX flowTestOfOrg ON flowTest (orgId, id);
CREATE INDEX flowTestOfDomain ON flowTest (domainId) WHERE domainId IS NOT NULL;
CREATE INDEX flowTestDue ON flowTest (dueAt) WHERE dueAt IS NOT NULL;
CREATE INDEX flowTestChanged ON flowTest (changeAt) WHERE changeAt IS NOT NULL;

CREATE TRIGGER flowTestDomainChanged AFTER INSERT ON change BEGIN
  UPDATE flowTest SET changeAt = NEW.occurredAt, changeEndsAt = NEW.endsAt
  WHERE domainId = NEW.domainId AND orgId = NEW.orgId AND enabled = 1 AND runOnChange = 1;
END;

CREATE TABLE flowVersion (
  id TEXT PRIMARY KEY,
  testId TEXT NOT NULL REFERENCES flowTest ON DELETE CASCADE,
  version INTEGER NOT NULL,             -- from 1
  recording TEXT NOT NULL,              -- JSON
  startUrl TEXT,
  expectations TEXT NOT NULL,           -- JSON
  createdAt INTEGER NOT NULL,
  UNIQUE (testId, version)
) STRICT;

CREATE TABLE flowRun (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  testId TEXT NOT NULL REFERENCES flowTest ON DELETE CASCADE,
  versionId TEXT NOT NULL,
  status TEXT NOT NULL,                 -- queued, running, passed, failed
  trigger TEXT NOT NULL,                -- api, manual, schedule, change
  startUrl TEXT,                        -- overrides the version's start URL
  variables TEXT NOT NULL,              -- JSON: overrides the test's variables of the same names
  attempts INTEGER NOT NULL,            -- number of attempts that have begun
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER,
  pausedMs INTEGER,
  summary TEXT NOT NULL,                -- JSON
  headline TEXT NOT NULL,
  error TEXT,
  region TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX flowRunOfOrg ON flowRun (orgId, id);
CREATE INDEX flowRunOfTest ON flowRun (testId, id);
CREATE INDEX flowRunOpen ON flowRun (status) WHERE status IN ('queued', 'running');

CREATE TABLE flowRunDetail (
  runId TEXT PRIMARY KEY REFERENCES flowRun ON DELETE CASCADE,
  detail TEXT NOT NULL                  -- JSON: steps, findings, events, errors, elements
) STRICT;
