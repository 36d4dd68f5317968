-- Time zone in which the days of an organization's calendars begin and end.
ALTER TABLE org ADD COLUMN timezone TEXT NOT NULL DEFAULT 'UTC';

-- Calendars of holidays.
CREATE TABLE calendar (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  name TEXT NOT NULL,
  country TEXT,                         -- country or region code; null: an uploaded calendar
  ics TEXT,                             -- the uploaded file; null: the calendar of a country
  basis TEXT NOT NULL,                  -- years and time zone for which the days were computed
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX calendarByOrg ON calendar (orgId, id);

CREATE TABLE calendarDay (
  calendarId TEXT NOT NULL REFERENCES calendar ON DELETE CASCADE,
  day TEXT NOT NULL,                    -- YYYY-MM-DD
  name TEXT NOT NULL,
  PRIMARY KEY (calendarId, day)
) STRICT, WITHOUT ROWID;

-- Maintenance windows, during which notifications are withheld.
CREATE TABLE maintenance (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  name TEXT NOT NULL,
  domainIds TEXT,                       -- JSON string[]; null: all domains
  projectId TEXT,                       -- null: all projects
  vendors TEXT,                         -- JSON string[]; null: all vendors
  fromAt INTEGER NOT NULL,
  toAt INTEGER NOT NULL,                -- end of the first occurrence
  rrule TEXT,                           -- RRULE; null: once
  timezone TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX maintenanceByOrg ON maintenance (orgId, id);

-- Issues whose notifications a maintenance window withholds. A row exists until the window ends.
CREATE TABLE withheldIssue (
  issueId TEXT PRIMARY KEY REFERENCES issue ON DELETE CASCADE,
  orgId TEXT NOT NULL,
  untilAt INTEGER NOT NULL              -- end of the window; 0 after a change to the organization's windows
) STRICT, WITHOUT ROWID;
CREATE INDEX withheldIssueDue ON withheldIssue (untilAt);
