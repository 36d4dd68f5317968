-- Progress of the search for consent information in requests, and the number of visitors who answered the consent
-- banner.
ALTER TABLE org ADD COLUMN consentOptIn INTEGER NOT NULL DEFAULT 0 CHECK (consentOptIn IN (0, 1));   -- consent must not be the default

CREATE TABLE consentCursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  requestsTo INTEGER NOT NULL,          -- requests received before this time have been checked
  hoursTo INTEGER NOT NULL              -- sessions that began before this time have been counted
) STRICT;

CREATE TABLE consentDay (               -- checked requests, weighted
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  day INTEGER NOT NULL,                 -- start of the UTC day, in ms
  kind TEXT NOT NULL,                   -- kind of finding; empty: all requests
  count REAL NOT NULL,
  PRIMARY KEY (domainId, vendor, day, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX consentDayByAge ON consentDay (day);

CREATE TABLE consentHour (              -- sessions in which consent is denied by default
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  hour INTEGER NOT NULL,                -- start of the hour in which the sessions began, ms
  vendor TEXT NOT NULL,                 -- vendor whose requests contained the consent state
  sessions INTEGER NOT NULL,
  chosen INTEGER NOT NULL,              -- number of these sessions with a later choice
  PRIMARY KEY (domainId, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX consentHourByAge ON consentHour (hour);
