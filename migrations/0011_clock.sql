-- The clock was set back, or the data was written while the clock was ahead.

CREATE TABLE clockStep (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,                  -- clock time after the step
  fromAt INTEGER NOT NULL,              -- from this time to latestAt, the program had already run before the step
  latestAt INTEGER NOT NULL,            -- latest time known before the step
  lastSeq INTEGER NOT NULL              -- events up to this one with at <= receivedAt <= latestAt were received before the step
) STRICT;

-- Events that an alert had not evaluated when the clock was set back: fromAt <= receivedAt < toAt, up to lastSeq.
CREATE TABLE lateWindow (
  alertId TEXT NOT NULL REFERENCES alert ON DELETE CASCADE,
  fromAt INTEGER NOT NULL,
  toAt INTEGER NOT NULL,
  lastSeq INTEGER NOT NULL,
  PRIMARY KEY (alertId, lastSeq)
) STRICT, WITHOUT ROWID;

-- The program did not run, or the clock was set forward: between two heartbeats, the clock advanced more than two
-- minutes too far.
CREATE TABLE clockJump (
  toAt INTEGER PRIMARY KEY,
  fromAt INTEGER NOT NULL
) STRICT;

-- A gap may also be a time that the clock showed twice.
CREATE TABLE pipelineGapAnew (
  fromAt INTEGER PRIMARY KEY,
  toAt INTEGER NOT NULL,                -- exclusive
  cause TEXT NOT NULL CHECK (cause IN ('down', 'refused', 'clock'))   -- cause of the beginning
) STRICT;
INSERT INTO pipelineGapAnew SELECT * FROM pipelineGap;
DROP TABLE pipelineGap;
ALTER TABLE pipelineGapAnew RENAME TO pipelineGap;
