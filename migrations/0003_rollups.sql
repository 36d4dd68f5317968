-- Parquet files that contain the counts per minute. A segment's files are added with its events, in the same
-- transaction.

CREATE TABLE rollupFile (
  path TEXT PRIMARY KEY,                -- relative to events/
  orgId TEXT,                           -- null: contains counts of several organizations
  minMinute INTEGER NOT NULL,           -- start of the first and last minute, ms; all rows are within this range
  maxMinute INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('fresh', 'merged', 'hour', 'day', 'quarters'))
) STRICT;
