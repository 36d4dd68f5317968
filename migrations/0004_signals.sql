-- When nothing could be collected, and what people said about the signals that Tagwarden watches by itself.

-- Counts of such times say nothing about tags. Gaps never overlap; nearer than two minutes they are one.
CREATE TABLE pipelineGap (
  fromAt INTEGER PRIMARY KEY,
  toAt INTEGER NOT NULL,                -- exclusive
  cause TEXT NOT NULL CHECK (cause IN ('down', 'refused'))   -- of its beginning
) STRICT;

-- When the program was last known to run: after a crash it says since when nobody collected.
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
  sensitivity INTEGER,                  -- null: as the alert says
  updatedAt INTEGER NOT NULL,
  PRIMARY KEY (domainId, vendor, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX signalSettingByOrg ON signalSetting (orgId);

-- Domains that were given their automatic alert. Without a reference to the domain: the alert of one that is gone is
-- to be found.
CREATE TABLE signalAlert (
  domainId TEXT PRIMARY KEY,
  alertId TEXT REFERENCES alert ON DELETE SET NULL   -- null: somebody deleted it, and it is never made again
) STRICT, WITHOUT ROWID;
CREATE INDEX signalAlertByAlert ON signalAlert (alertId);
