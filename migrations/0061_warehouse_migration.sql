-- The unfinished migration of the event history to another engine.
CREATE TABLE warehouseMigration (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  target TEXT NOT NULL,                 -- 'folder', or host, port and database of a ClickHouse server
  startedAt INTEGER NOT NULL
) STRICT;

-- Its UTC days. A day without a result was interrupted.
CREATE TABLE migratedDay (
  day INTEGER PRIMARY KEY,              -- start of the day
  attempts INTEGER NOT NULL,
  files TEXT                            -- JSON: manifest entries of the files written for the day
) STRICT;

-- Events of earlier files, which are no longer in the manifest: later events have higher numbers and times.
ALTER TABLE warehouseEngine ADD COLUMN lastSeq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE warehouseEngine ADD COLUMN lastReceivedAt INTEGER NOT NULL DEFAULT 0;
