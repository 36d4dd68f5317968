-- Imported files of past events, to prevent importing a file twice.
CREATE TABLE importedFile (
  content TEXT NOT NULL,                      -- SHA-256 of the content, in hex
  domainId TEXT NOT NULL,                     -- the domain given for all events; '': each event names its domain
  events INTEGER NOT NULL,
  importedAt INTEGER NOT NULL,
  PRIMARY KEY (content, domainId)
) STRICT, WITHOUT ROWID;

-- When the first and last imported events of a domain were received.
CREATE TABLE importedSpan (
  domainId TEXT PRIMARY KEY REFERENCES domain ON DELETE CASCADE,
  firstAt INTEGER NOT NULL,
  lastAt INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
