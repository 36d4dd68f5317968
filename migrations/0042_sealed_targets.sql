-- URLs of channels and integrations are sealed with master.key, which SQL can't access. The next start seals the URLs
-- stored by an earlier version and then deletes this row.
CREATE TABLE startTask (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO startTask VALUES ('sealTargets');

-- Receivers are distinguished by scheme, host and port. Older rows contain only the host, which was called over HTTPS.
ALTER TABLE integration RENAME COLUMN host TO origin;
UPDATE integration SET origin = 'https://' || origin WHERE origin <> '' AND origin NOT LIKE '%://%';
