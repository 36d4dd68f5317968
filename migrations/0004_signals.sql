-- Times without collection, and users' settings for the signals that Tagwarden monitors automatically.

-- Counts from these times say nothing about tags. Gaps never overlap; gaps less than two minutes apart are merged.
CREATE TABLE pipelineGap (
  fromAt INTEGER PRIMARY KEY,
  toAt INTEGER NOT NULL,                -- exclusive
  cause TEXT NOT NULL CHECK (cause IN ('down', 'refused'))   -- cause of the beginning
) STRICT;

-- When the program was last known to run. After a crash, it shows since when no events were collected.
CREATE TABLE heartbeat (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE signalSetting (
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  event TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('auto', 'muted', 'off')),
  sensitivity INTEGER,                  -- null: the alert's sensitivity
  updatedAt INTEGER NOT NULL,
  PRIMARY KEY (domainId, vendor, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX signalSettingByOrg ON signalSetting (orgId);

-- Domains for which the automatic alert has been created. There is no reference to the domain, so that the alert of a
-- deleted domain can be found.
CREATE TABLE signalAlert (
  domainId TEXT PRIMARY KEY,
  alertId TEXT REFERENCES alert ON DELETE SET NULL   -- null: a user deleted it, and it is never created again
) STRICT, WITHOUT ROWID;
CREATE INDEX signalAlertByAlert ON signalAlert (alertId);
