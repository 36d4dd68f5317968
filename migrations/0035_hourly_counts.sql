-- Counts of days are kept by the hour as well, in files of their own.

CREATE TABLE rollupFileAnew (
  path TEXT PRIMARY KEY,                -- relative to events/
  orgId TEXT,                           -- null: holds several organizations' counts
  minMinute INTEGER NOT NULL,           -- starts of its first and last minute, ms; none of its rows lies outside
  maxMinute INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('fresh', 'merged', 'hour', 'day', 'quarters', 'hours')),
  sum INTEGER,                          -- CRC-32 of its bytes; null: written by a version that kept none
  damagedAt INTEGER                     -- when it was found damaged or gone, ms; null: it is in use
) STRICT;
INSERT INTO rollupFileAnew SELECT path, orgId, minMinute, maxMinute, rows, sizeBytes, level, sum, damagedAt FROM rollupFile;
DROP TABLE rollupFile;
ALTER TABLE rollupFileAnew RENAME TO rollupFile;
