-- The clock was put back, or the data comes from a time when it was ahead.

CREATE TABLE clockStep (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,                  -- what the clock showed after it
  fromAt INTEGER NOT NULL,              -- from here to latestAt the program had run before
  latestAt INTEGER NOT NULL,            -- the latest time that was known before it
  lastSeq INTEGER NOT NULL              -- events of at <= receivedAt <= latestAt up to this one came before it
) STRICT;

-- What an alert had not judged yet when the clock was put back: events of fromAt <= receivedAt < toAt up to lastSeq.
CREATE TABLE lateWindow (
  alertId TEXT NOT NULL REFERENCES alert ON DELETE CASCADE,
  fromAt INTEGER NOT NULL,
  toAt INTEGER NOT NULL,
  lastSeq INTEGER NOT NULL,
  PRIMARY KEY (alertId, lastSeq)
) STRICT, WITHOUT ROWID;

-- The program did not run, or the clock was set on: from one sign of life to the next it showed more than two minutes more.
CREATE TABLE clockJump (
  toAt INTEGER PRIMARY KEY,
  fromAt INTEGER NOT NULL
) STRICT;

-- A gap may also be a time that the clock showed twice.
CREATE TABLE pipelineGapAnew (
  fromAt INTEGER PRIMARY KEY,
  toAt INTEGER NOT NULL,                -- exclusive
  cause TEXT NOT NULL CHECK (cause IN ('down', 'refused', 'clock'))   -- of its beginning
) STRICT;
INSERT INTO pipelineGapAnew SELECT * FROM pipelineGap;
DROP TABLE pipelineGap;
ALTER TABLE pipelineGapAnew RENAME TO pipelineGap;
