-- Counts of whole days are stored per hour as well, in separate files.

CREATE TABLE rollupFileAnew (
  path TEXT PRIMARY KEY,                -- relative to events/
  orgId TEXT,                           -- null: contains counts of several organizations
  minMinute INTEGER NOT NULL,           -- start of the first and last minute, ms; all rows are within this range
  maxMinute INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('fresh', 'merged', 'hour', 'day', 'quarters', 'hours')),
  sum INTEGER,                          -- CRC-32 of the file; null: written by a version without checksums
  damagedAt INTEGER                     -- when the file was found damaged or missing, ms; null: in use
) STRICT;
INSERT INTO rollupFileAnew SELECT path, orgId, minMinute, maxMinute, rows, sizeBytes, level, sum, damagedAt FROM rollupFile;
DROP TABLE rollupFile;
ALTER TABLE rollupFileAnew RENAME TO rollupFile;
