-- Each attempt stores its requests, with secrets removed.
ALTER TABLE deliveryAttempt ADD COLUMN requests TEXT;  -- JSON SentRequest[]; null: none, or removed because newer attempts exist
-- The attempts of a group send one message; only the first of them stores its requests.
ALTER TABLE deliveryAttempt ADD COLUMN sentWith INTEGER REFERENCES deliveryAttempt (seq) ON DELETE SET NULL;
CREATE INDEX deliveryAttemptSentWith ON deliveryAttempt (sentWith) WHERE sentWith IS NOT NULL;

-- Lists of deliveries are filtered by channel, alert and time.
CREATE INDEX deliveryByChannel ON delivery (orgId, channelTarget, channelType, seq);
-- Contains all filtered columns, because reading the messages of rows that don't match would take ten times as long.
DROP INDEX deliveryByOrg;
CREATE INDEX deliveryByOrg ON delivery (orgId, seq, createdAt, status, alertId, issueId, channelType, channelTarget);

CREATE TABLE findingPage (                            -- page groups on which the finding was seen
  findingId INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,
  page TEXT NOT NULL,                                 -- masked
  lastSeenAt INTEGER NOT NULL,
  PRIMARY KEY (findingId, page)
) STRICT, WITHOUT ROWID;
