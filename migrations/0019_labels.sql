-- Labels: an organization's names for events, used in conditions, journeys and search.
CREATE TABLE label (
  id TEXT PRIMARY KEY,
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  name TEXT NOT NULL,
  nameKey TEXT NOT NULL,                -- the name in lower case, because labels must differ in more than case
  color TEXT NOT NULL,                  -- #rrggbb, in lower case
  kind TEXT NOT NULL CHECK (kind IN ('step', 'group', 'owner')),
  createdAt INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX labelByName ON label (orgId, nameKey);

CREATE TABLE labelMember (
  labelId TEXT NOT NULL REFERENCES label ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  event TEXT NOT NULL,                  -- empty: any of the vendor's events
  PRIMARY KEY (labelId, vendor, event)
) STRICT, WITHOUT ROWID;
