-- Names that are counted individually per minute for a domain. All other names of the domain are counted together.
CREATE TABLE countedName (
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  event TEXT NOT NULL,
  events INTEGER NOT NULL,              -- number of events since the name was added, up to 100
  lastDay INTEGER NOT NULL,             -- UTC day of the most recent event, in days since 1970
  PRIMARY KEY (domainId, vendor, event)
) STRICT, WITHOUT ROWID;
