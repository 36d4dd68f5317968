-- Stored state of providers, and access for calls from outside.
ALTER TABLE integration ADD COLUMN host TEXT;         -- host to which calls are sent; null: the host of config.url
ALTER TABLE integration ADD COLUMN inboundHash BLOB;  -- SHA-256 of the capability token; null: no token
ALTER TABLE integration ADD COLUMN state TEXT;        -- JSON of the provider's state; null: no state yet
CREATE UNIQUE INDEX integrationByToken ON integration (inboundHash) WHERE inboundHash IS NOT NULL;

CREATE TABLE issueMemory (                            -- the provider's data about an issue: ticket, message, thread
  issueId TEXT NOT NULL REFERENCES issue ON DELETE CASCADE,
  channelType TEXT NOT NULL,
  channelTarget TEXT NOT NULL,
  integrationId TEXT REFERENCES integration ON DELETE CASCADE,   -- null: the target is an address
  memory TEXT NOT NULL,                               -- JSON
  ticketKey TEXT,                                     -- the ticket's key in the external system
  syncAt INTEGER,                                   -- when the issue's status is sent to the external system; null: up to date
  syncAttempts INTEGER NOT NULL DEFAULT 0,          -- consecutive failed attempts
  PRIMARY KEY (issueId, channelType, channelTarget)
) STRICT, WITHOUT ROWID;
CREATE INDEX issueMemoryByTicket ON issueMemory (integrationId, ticketKey);
CREATE INDEX issueMemoryToFollow ON issueMemory (syncAt) WHERE syncAt IS NOT NULL;

CREATE TRIGGER issueStatusMoved AFTER UPDATE OF status ON issue WHEN NEW.status <> OLD.status BEGIN
  UPDATE issueMemory SET syncAt = 0, syncAttempts = 0 WHERE issueId = NEW.id;
END;

CREATE TABLE inboundCall (                            -- accepted calls from outside, to recognise repeated calls
  integrationId TEXT NOT NULL REFERENCES integration ON DELETE CASCADE,
  key TEXT NOT NULL,
  receivedAt INTEGER NOT NULL,
  PRIMARY KEY (integrationId, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX inboundCallByAge ON inboundCall (receivedAt);
