-- Organizations that were deleted: files of their events go. Those of organizations that are merely not known stay: a
-- database that was lost or put back from an older copy knows too few.
CREATE TABLE deletedOrg (
  orgId TEXT PRIMARY KEY,
  deletedAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
