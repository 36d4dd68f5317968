-- Files of events of before that were taken in, so that none is taken in twice.
CREATE TABLE importedFile (
  content TEXT NOT NULL,                      -- SHA-256 of what is in it, hexadecimal
  domainId TEXT NOT NULL,                     -- that was named for all of its events; '': each named its own
  events INTEGER NOT NULL,
  importedAt INTEGER NOT NULL,
  PRIMARY KEY (content, domainId)
) STRICT, WITHOUT ROWID;

-- From when to when imported events of a domain were received.
CREATE TABLE importedSpan (
  domainId TEXT PRIMARY KEY REFERENCES domain ON DELETE CASCADE,
  firstAt INTEGER NOT NULL,
  lastAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
