-- Filters of lists that users have saved under a name.
CREATE TABLE savedView (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  userId TEXT NOT NULL REFERENCES user ON DELETE CASCADE,
  page TEXT NOT NULL,                   -- list that the view belongs to
  name TEXT NOT NULL,
  search TEXT NOT NULL,                 -- search params of the page, without '?'
  isShared INTEGER NOT NULL,            -- 1: every member of the organization sees it
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX savedViewByOrg ON savedView (orgId, page, id);
CREATE INDEX savedViewByUser ON savedView (userId);
