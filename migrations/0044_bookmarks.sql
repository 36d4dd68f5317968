-- Pages that users return to.
CREATE TABLE bookmark (
  orgId TEXT NOT NULL REFERENCES org (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  PRIMARY KEY (orgId, path)
) STRICT;
