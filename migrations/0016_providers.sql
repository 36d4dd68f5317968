-- What providers remember, and how they are called from outside.
ALTER TABLE integration ADD COLUMN host TEXT;         -- that its calls go to; null: the one of config.url
ALTER TABLE integration ADD COLUMN inboundHash BLOB;  -- SHA-256 of its capability token; null: it has none
ALTER TABLE integration ADD COLUMN state TEXT;        -- JSON of what its provider remembers of it; null: nothing yet
CREATE UNIQUE INDEX integrationByToken ON integration (inboundHash) WHERE inboundHash IS NOT NULL;

CREATE TABLE issueMemory (                            -- what a provider remembers of an issue: ticket, message, thread
  issueId TEXT NOT NULL REFERENCES issue ON DELETE CASCADE,
  channelType TEXT NOT NULL,
  channelTarget TEXT NOT NULL,
  integrationId TEXT REFERENCES integration ON DELETE CASCADE,   -- null: the target is an address
  memory TEXT NOT NULL,                               -- JSON
  ticketKey TEXT,                                     -- what the other side calls the issue
  syncAt INTEGER,                                   -- when the other side is shown the issue's status; null: it shows it
  syncAttempts INTEGER NOT NULL DEFAULT 0,          -- that failed in a row
  PRIMARY KEY (issueId, channelType, channelTarget)
) STRICT, WITHOUT ROWID;
CREATE INDEX issueMemoryByTicket ON issueMemory (integrationId, ticketKey);
CREATE INDEX issueMemoryToFollow ON issueMemory (syncAt) WHERE syncAt IS NOT NULL;

CREATE TRIGGER issueStatusMoved AFTER UPDATE OF status ON issue WHEN NEW.status <> OLD.status BEGIN
  UPDATE issueMemory SET syncAt = 0, syncAttempts = 0 WHERE issueId = NEW.id;
END;

CREATE TABLE inboundCall (                            -- calls from outside that were taken, so that a repeat is known
  integrationId TEXT NOT NULL REFERENCES integration ON DELETE CASCADE,
  key TEXT NOT NULL,
  receivedAt INTEGER NOT NULL,
  PRIMARY KEY (integrationId, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX inboundCallByAge ON inboundCall (receivedAt);
