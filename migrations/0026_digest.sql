-- Who gets the digest, and how far that of each day is.
CREATE TABLE digestSubscription (
  orgId TEXT NOT NULL,
  userId TEXT NOT NULL,
  subscribed INTEGER NOT NULL CHECK (subscribed IN (0, 1)),
  context TEXT NOT NULL,                -- for whom it is and what comes first
  hourUtc INTEGER NOT NULL CHECK (hourUtc BETWEEN 0 AND 23),
  PRIMARY KEY (orgId, userId),
  FOREIGN KEY (orgId, userId) REFERENCES member (orgId, userId) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE digestMail (               -- one for each reader and UTC day: a second one is never begun
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  reader TEXT NOT NULL,                 -- a user's id, or that of an integration and, behind a blank, a hash of an address
  day INTEGER NOT NULL,                 -- days since the Unix epoch: when it came due
  status TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'failed')),
  attempts INTEGER NOT NULL,            -- that ended
  dueAt INTEGER NOT NULL,
  lastError TEXT,
  PRIMARY KEY (orgId, reader, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX digestMailByDay ON digestMail (day);
CREATE INDEX digestMailDue ON digestMail (dueAt) WHERE status = 'pending';
