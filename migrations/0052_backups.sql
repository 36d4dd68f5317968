-- Attempts to back up the data folder, including those by the command.
CREATE TABLE backup (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL,                 -- running, succeeded, failed
  place TEXT NOT NULL,                  -- folder or s3:// address
  name TEXT,                            -- of the backup in its place; null until it succeeded
  startedAt INTEGER NOT NULL,
  finishedAt INTEGER,
  files INTEGER,
  bytes INTEGER,
  addedBytes INTEGER,                   -- written by this backup; the other files were in the place already
  error TEXT
) STRICT;

-- The data folder to which this database belongs. A copy of the folder does not have the same mark.
CREATE TABLE folderMark (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  serverId TEXT NOT NULL,               -- the same in all copies
  mark TEXT NOT NULL,                   -- the content of the folder's mark
  quietSince INTEGER,                   -- the folder was found to be a copy, and nothing is sent; null: it is not
  quietReason TEXT
) STRICT;

INSERT INTO total VALUES ('backupsFailed', 0);
CREATE TRIGGER backupFailed AFTER UPDATE OF status ON backup WHEN NEW.status = 'failed' AND OLD.status <> 'failed' BEGIN
  UPDATE total SET value = value + 1 WHERE name = 'backupsFailed';
END;
