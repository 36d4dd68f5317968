-- Data that providers store in addition to an integration's state, and their calls to services whose limits apply to
-- the whole server.
CREATE TABLE integrationRecord (                      -- a provider's data about one external resource
  integrationId TEXT NOT NULL REFERENCES integration ON DELETE CASCADE,
  key TEXT NOT NULL,                                  -- the provider's key for the resource
  value TEXT NOT NULL,                                -- JSON
  PRIMARY KEY (integrationId, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE providerCall (                           -- calls that count towards a quota of the whole server
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  at INTEGER NOT NULL                                 -- when the call ended; while it is in progress, when it began
) STRICT;
CREATE INDEX providerCallByTime ON providerCall (provider, at);
