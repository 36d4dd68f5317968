-- What providers know beside an integration's state, and what they asked of others whose limits are the whole server's.
CREATE TABLE integrationRecord (                      -- what a provider remembers of one thing at the other side
  integrationId TEXT NOT NULL REFERENCES integration ON DELETE CASCADE,
  key TEXT NOT NULL,                                  -- what the provider calls it
  value TEXT NOT NULL,                                -- JSON
  PRIMARY KEY (integrationId, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE providerCall (                           -- calls that count against a quota of the whole server
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  at INTEGER NOT NULL                                 -- when it ended; while it is under way, when it began
) STRICT;
CREATE INDEX providerCallByTime ON providerCall (provider, at);
