-- What a shop says it sold, to be held against what its tags told their vendors. Kept 400 days by `at`.
CREATE TABLE shopOrder (
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  id TEXT NOT NULL,                     -- the shop's own
  at INTEGER NOT NULL,                  -- when it was placed
  value REAL,                           -- null: the shop did not say
  currency TEXT,                        -- ISO 4217; null: the shop did not say
  status TEXT NOT NULL CHECK (status IN ('paid', 'cancelled')),
  PRIMARY KEY (domainId, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shopOrderByTime ON shopOrder (domainId, at);
CREATE INDEX shopOrderByAge ON shopOrder (at);
