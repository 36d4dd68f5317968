-- Which Parquet files make up the counts by minute. Those of a segment enter with its events, in the same transaction.

CREATE TABLE rollupFile (
  path TEXT PRIMARY KEY,                -- relative to events/
  orgId TEXT,                           -- null: holds several organizations' counts
  minMinute INTEGER NOT NULL,           -- starts of its first and last minute, ms; none of its rows lies outside
  maxMinute INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('fresh', 'merged', 'hour', 'day', 'quarters'))
) STRICT;
