-- Deleted organizations, whose event files are deleted. Files of unknown organizations are kept, because organizations
-- may be missing from a database that was lost or restored from an older copy.
CREATE TABLE deletedOrg (
  orgId TEXT PRIMARY KEY,
  deletedAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
