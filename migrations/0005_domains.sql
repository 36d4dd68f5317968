-- How a domain's events reach the collector, how many of its page views are kept, and which vendors it was seen with.

ALTER TABLE domain ADD COLUMN routingMode TEXT NOT NULL DEFAULT 'default'
  CHECK (routingMode IN ('legacy', 'custom', 'default'));
ALTER TABLE domain ADD COLUMN collectHostname TEXT;        -- of the customer, for mode custom; null: none was named
ALTER TABLE domain ADD COLUMN collectStatus TEXT NOT NULL DEFAULT 'pending'
  CHECK (collectStatus IN ('pending', 'active', 'failing'));
ALTER TABLE domain ADD COLUMN collectCheckedAt INTEGER;
ALTER TABLE domain ADD COLUMN legacyScriptAt INTEGER;      -- when its script was last asked for at the legacy address
ALTER TABLE domain ADD COLUMN devRate REAL NOT NULL DEFAULT 1;   -- share of sessions whose page views are kept
ALTER TABLE domain ADD COLUMN prodRate REAL NOT NULL DEFAULT 1;

CREATE TABLE domainVendor (
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  lastSeenAt INTEGER NOT NULL,
  PRIMARY KEY (domainId, vendor)
) STRICT, WITHOUT ROWID;

-- Which Parquet files make up the relation `pages`. Those of a segment enter with its events, in the same transaction.
CREATE TABLE pageFile (
  path TEXT PRIMARY KEY,                -- relative to events/
  orgId TEXT,                           -- null: holds several organizations' pages
  minReceivedAt INTEGER NOT NULL,
  maxReceivedAt INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('fresh', 'merged', 'hour', 'day'))
) STRICT;
