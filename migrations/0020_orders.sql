-- Orders reported by a shop, to compare with the orders that its tags sent to vendors. Stored for 400 days by `at`.
CREATE TABLE shopOrder (
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  id TEXT NOT NULL,                     -- the shop's order id
  at INTEGER NOT NULL,                  -- when the order was placed
  value REAL,                           -- null: not reported
  currency TEXT,                        -- ISO 4217; null: not reported
  status TEXT NOT NULL CHECK (status IN ('paid', 'cancelled')),
  PRIMARY KEY (domainId, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shopOrderByTime ON shopOrder (domainId, at);
CREATE INDEX shopOrderByAge ON shopOrder (at);
