-- How far requests were looked through for what they say of consent, and how many visitors answered the banner.
ALTER TABLE org ADD COLUMN consentOptIn INTEGER NOT NULL DEFAULT 0 CHECK (consentOptIn IN (0, 1));   -- consent must not be the default

CREATE TABLE consentCursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  requestsTo INTEGER NOT NULL,          -- requests received before it were looked at
  hoursTo INTEGER NOT NULL              -- sessions that began before it were counted
) STRICT;

CREATE TABLE consentDay (               -- requests that were looked at, weighted
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  day INTEGER NOT NULL,                 -- start of the UTC day, in ms
  kind TEXT NOT NULL,                   -- of finding; empty: all
  count REAL NOT NULL,
  PRIMARY KEY (domainId, vendor, day, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX consentDayByAge ON consentDay (day);

CREATE TABLE consentHour (              -- sessions that are denied by default
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  hour INTEGER NOT NULL,                -- in which they began: its start, in ms
  vendor TEXT NOT NULL,                 -- whose requests said so
  sessions INTEGER NOT NULL,
  chosen INTEGER NOT NULL,              -- of these, with a choice later on
  PRIMARY KEY (domainId, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX consentHourByAge ON consentHour (hour);
