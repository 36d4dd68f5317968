-- URLs of channels and integrations are sealed with master.key, which SQL does not have: the next start seals those that an
-- earlier version stored, and deletes the row.
CREATE TABLE startTask (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO startTask VALUES ('sealTargets');

-- Receivers are distinguished by scheme, host and port. Older rows have only the host, which was called by https.
ALTER TABLE integration RENAME COLUMN host TO origin;
UPDATE integration SET origin = 'https://' || origin WHERE origin <> '' AND origin NOT LIKE '%://%';
