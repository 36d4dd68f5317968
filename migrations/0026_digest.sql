-- Subscribers of the digest, and the delivery status for each day.
CREATE TABLE digestSubscription (
  orgId TEXT NOT NULL,
  userId TEXT NOT NULL,
  subscribed INTEGER NOT NULL CHECK (subscribed IN (0, 1)),
  context TEXT NOT NULL,                -- the audience, which determines the order of the content
  hourUtc INTEGER NOT NULL CHECK (hourUtc BETWEEN 0 AND 23),
  PRIMARY KEY (orgId, userId),
  FOREIGN KEY (orgId, userId) REFERENCES member (orgId, userId) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE digestMail (               -- one row per reader and UTC day, so that no digest is sent twice
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  reader TEXT NOT NULL,                 -- a user's id, or an integration's id followed by a space and a hash of an address
  day INTEGER NOT NULL,                 -- day on which it was due, in days since the Unix epoch
  status TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'failed')),
  attempts INTEGER NOT NULL,            -- number of completed attempts
  dueAt INTEGER NOT NULL,
  lastError TEXT,
  PRIMARY KEY (orgId, reader, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX digestMailByDay ON digestMail (day);
CREATE INDEX digestMailDue ON digestMail (dueAt) WHERE status = 'pending';
