-- Names that counts by the minute keep for a domain; all others of it are counted together.
CREATE TABLE countedName (
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  event TEXT NOT NULL,
  events INTEGER NOT NULL,              -- since it is kept, counted up to 100
  lastDay INTEGER NOT NULL,             -- UTC day of its last event, counted from 1970
  PRIMARY KEY (domainId, vendor, event)
) STRICT, WITHOUT ROWID;
