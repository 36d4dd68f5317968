-- Processes on other machines that receive events for this server.
CREATE TABLE collector (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  slot INTEGER NOT NULL UNIQUE CHECK (slot BETWEEN 1 AND 63),   -- its event numbers are congruent to it modulo 64
  tokenHash BLOB NOT NULL UNIQUE,       -- SHA-256
  createdAt INTEGER NOT NULL,
  instance TEXT,                        -- random id of the data folder that uses the token
  seenAt INTEGER,                       -- most recent contact; null: never
  version TEXT,
  diskBytes INTEGER,                    -- size of its spool
  freeBytes INTEGER,                    -- free space on the disk of its spool
  storedThrough INTEGER,                -- all its events received before this time are in the event history
  isAway INTEGER NOT NULL DEFAULT 0 CHECK (isAway IN (0, 1)),  -- alerts are evaluated without waiting for it
  claimed TEXT                          -- JSON span of the segment that is claimed and not committed; null: none
) STRICT;

-- Segments whose events are in the event history and in the accounts, so that each is accounted for once.
CREATE TABLE collectorSegment (
  collectorId TEXT NOT NULL REFERENCES collector ON DELETE CASCADE,
  name TEXT NOT NULL,
  committedAt INTEGER NOT NULL,
  PRIMARY KEY (collectorId, name)
) STRICT, WITHOUT ROWID;

-- Rows that collectors copy, by the most recent change. Entries of deleted rows remain, so that copies are deleted too.
CREATE TABLE rowVersion (
  version INTEGER PRIMARY KEY AUTOINCREMENT,
  tableName TEXT NOT NULL,
  key TEXT NOT NULL,                    -- JSON array of the values of the row's key
  UNIQUE (tableName, key)
) STRICT;

-- Grows with each restored backup, so that collectors recognise versions from before the restoration.
CREATE TABLE rowFeed (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  epoch INTEGER NOT NULL,
  folder TEXT NOT NULL                  -- the folder's mark and the time since which it has been a copy
) STRICT;

-- Events of a collector that arrived after alerts had been evaluated without them. Windows by time exclude them.
CREATE TABLE lateSpan (
  slot INTEGER NOT NULL,
  afterSeq INTEGER NOT NULL,            -- exclusive
  lastSeq INTEGER NOT NULL,             -- inclusive
  fromAt INTEGER NOT NULL,              -- receivedAt of the first and last event
  toAt INTEGER NOT NULL,
  PRIMARY KEY (slot, afterSeq)
) STRICT, WITHOUT ROWID;

-- Null: a late window of a clock step, not of a collector.
ALTER TABLE lateWindow ADD COLUMN slot INTEGER;
ALTER TABLE lateWindow ADD COLUMN afterSeq INTEGER;

-- On a collector: its position in the feed of the control node, and in its own spool.
CREATE TABLE collectorState (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  instance TEXT NOT NULL,               -- random id of the data folder
  slot INTEGER NOT NULL,
  live INTEGER NOT NULL,                -- number of collectors in contact with the control node
  epoch INTEGER NOT NULL,
  version INTEGER NOT NULL,
  overBudget TEXT NOT NULL,             -- JSON array of ids of organizations
  lastSegment TEXT,                     -- the last segment that the control node has committed
  lastReceivedAt INTEGER NOT NULL DEFAULT 0,
  lastSeq INTEGER NOT NULL DEFAULT 0,
  committedSeq INTEGER NOT NULL DEFAULT 0   -- highest number of an event in `lastSegment` or before it
) STRICT;

-- They delete first, because a conflict clause of the statement that fires a trigger overrides one in the trigger.
CREATE TRIGGER orgInserted AFTER INSERT ON org BEGIN
  DELETE FROM rowVersion WHERE tableName = 'org' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('org', json_array(NEW.id));
END;
CREATE TRIGGER orgUpdated AFTER UPDATE OF customerSalt, phoneRegions, piiPatterns ON org BEGIN
  DELETE FROM rowVersion WHERE tableName = 'org' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('org', json_array(NEW.id));
END;
CREATE TRIGGER orgDeleted AFTER DELETE ON org BEGIN
  DELETE FROM rowVersion WHERE tableName = 'org' AND key = json_array(OLD.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('org', json_array(OLD.id));
END;
CREATE TRIGGER domainInserted AFTER INSERT ON domain BEGIN
  DELETE FROM rowVersion WHERE tableName = 'domain' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('domain', json_array(NEW.id));
END;
CREATE TRIGGER domainUpdated AFTER UPDATE OF name, token, previousToken, previousTokenUntil, vendors, routingMode,
  collectHostname, collectStatus, devRate, prodRate, captureEnabled, captureProdRate, captureDevRate, sessionMode ON
  domain BEGIN
  DELETE FROM rowVersion WHERE tableName = 'domain' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('domain', json_array(NEW.id));
END;
CREATE TRIGGER domainDeleted AFTER DELETE ON domain BEGIN
  DELETE FROM rowVersion WHERE tableName = 'domain' AND key = json_array(OLD.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('domain', json_array(OLD.id));
END;
CREATE TRIGGER hostnameInserted AFTER INSERT ON hostname WHEN NEW.status = 'denied' BEGIN
  DELETE FROM rowVersion WHERE tableName = 'hostname' AND key = json_array(NEW.domainId, NEW.hostname);
  INSERT INTO rowVersion (tableName, key) VALUES ('hostname', json_array(NEW.domainId, NEW.hostname));
END;
CREATE TRIGGER hostnameUpdated AFTER UPDATE OF status ON hostname WHEN 'denied' IN (OLD.status, NEW.status) BEGIN
  DELETE FROM rowVersion WHERE tableName = 'hostname' AND key = json_array(NEW.domainId, NEW.hostname);
  INSERT INTO rowVersion (tableName, key) VALUES ('hostname', json_array(NEW.domainId, NEW.hostname));
END;
CREATE TRIGGER hostnameDeleted AFTER DELETE ON hostname WHEN OLD.status = 'denied' BEGIN
  DELETE FROM rowVersion WHERE tableName = 'hostname' AND key = json_array(OLD.domainId, OLD.hostname);
  INSERT INTO rowVersion (tableName, key) VALUES ('hostname', json_array(OLD.domainId, OLD.hostname));
END;
CREATE TRIGGER alertInserted AFTER INSERT ON alert BEGIN
  DELETE FROM rowVersion WHERE tableName = 'alert' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('alert', json_array(NEW.id));
END;
CREATE TRIGGER alertUpdated AFTER UPDATE OF input, enabled, cost ON alert BEGIN
  DELETE FROM rowVersion WHERE tableName = 'alert' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('alert', json_array(NEW.id));
END;
CREATE TRIGGER alertDeleted AFTER DELETE ON alert BEGIN
  DELETE FROM rowVersion WHERE tableName = 'alert' AND key = json_array(OLD.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('alert', json_array(OLD.id));
END;
CREATE TRIGGER labelInserted AFTER INSERT ON label BEGIN
  DELETE FROM rowVersion WHERE tableName = 'label' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('label', json_array(NEW.id));
END;
CREATE TRIGGER labelUpdated AFTER UPDATE OF name ON label BEGIN
  DELETE FROM rowVersion WHERE tableName = 'label' AND key = json_array(NEW.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('label', json_array(NEW.id));
END;
CREATE TRIGGER labelDeleted AFTER DELETE ON label BEGIN
  DELETE FROM rowVersion WHERE tableName = 'label' AND key = json_array(OLD.id);
  INSERT INTO rowVersion (tableName, key) VALUES ('label', json_array(OLD.id));
END;
CREATE TRIGGER labelMemberInserted AFTER INSERT ON labelMember BEGIN
  DELETE FROM rowVersion WHERE tableName = 'labelMember' AND key = json_array(NEW.labelId, NEW.vendor, NEW.event);
  INSERT INTO rowVersion (tableName, key) VALUES ('labelMember', json_array(NEW.labelId, NEW.vendor, NEW.event));
END;
CREATE TRIGGER labelMemberDeleted AFTER DELETE ON labelMember BEGIN
  DELETE FROM rowVersion WHERE tableName = 'labelMember' AND key = json_array(OLD.labelId, OLD.vendor, OLD.event);
  INSERT INTO rowVersion (tableName, key) VALUES ('labelMember', json_array(OLD.labelId, OLD.vendor, OLD.event));
END;
CREATE TRIGGER countedNameInserted AFTER INSERT ON countedName BEGIN
  DELETE FROM rowVersion WHERE tableName = 'countedName' AND key = json_array(NEW.domainId, NEW.vendor, NEW.event);
  INSERT INTO rowVersion (tableName, key) VALUES ('countedName', json_array(NEW.domainId, NEW.vendor, NEW.event));
END;
CREATE TRIGGER countedNameUpdated AFTER UPDATE OF events, lastDay ON countedName BEGIN
  DELETE FROM rowVersion WHERE tableName = 'countedName' AND key = json_array(NEW.domainId, NEW.vendor, NEW.event);
  INSERT INTO rowVersion (tableName, key) VALUES ('countedName', json_array(NEW.domainId, NEW.vendor, NEW.event));
END;
CREATE TRIGGER countedNameDeleted AFTER DELETE ON countedName BEGIN
  DELETE FROM rowVersion WHERE tableName = 'countedName' AND key = json_array(OLD.domainId, OLD.vendor, OLD.event);
  INSERT INTO rowVersion (tableName, key) VALUES ('countedName', json_array(OLD.domainId, OLD.vendor, OLD.event));
END;

INSERT INTO rowVersion (tableName, key) SELECT 'org', json_array(id) FROM org;
INSERT INTO rowVersion (tableName, key) SELECT 'domain', json_array(id) FROM domain;
INSERT INTO rowVersion (tableName, key) SELECT 'hostname', json_array(domainId, hostname) FROM hostname WHERE status = 'denied';
INSERT INTO rowVersion (tableName, key) SELECT 'alert', json_array(id) FROM alert;
INSERT INTO rowVersion (tableName, key) SELECT 'label', json_array(id) FROM label;
INSERT INTO rowVersion (tableName, key) SELECT 'labelMember', json_array(labelId, vendor, event) FROM labelMember;
INSERT INTO rowVersion (tableName, key) SELECT 'countedName', json_array(domainId, vendor, event) FROM countedName;
