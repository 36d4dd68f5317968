-- How a domain's events reach the collector, the share of page views that is stored, and the vendors seen on the
-- domain.

ALTER TABLE domain ADD COLUMN routingMode TEXT NOT NULL DEFAULT 'default'
  CHECK (routingMode IN ('legacy', 'custom', 'default'));
ALTER TABLE domain ADD COLUMN collectHostname TEXT;        -- the customer's host name for mode custom; null: none was set
ALTER TABLE domain ADD COLUMN collectStatus TEXT NOT NULL DEFAULT 'pending'
  CHECK (collectStatus IN ('pending', 'active', 'failing'));
ALTER TABLE domain ADD COLUMN collectCheckedAt INTEGER;
ALTER TABLE domain ADD COLUMN legacyScriptAt INTEGER;      -- when the script was last requested at the legacy address
ALTER TABLE domain ADD COLUMN devRate REAL NOT NULL DEFAULT 1;   -- share of sessions whose page views are stored
ALTER TABLE domain ADD COLUMN prodRate REAL NOT NULL DEFAULT 1;

CREATE TABLE domainVendor (
  domainId TEXT NOT NULL REFERENCES domain ON DELETE CASCADE,
  vendor TEXT NOT NULL,
  lastSeenAt INTEGER NOT NULL,
  PRIMARY KEY (domainId, vendor)
) STRICT, WITHOUT ROWID;

-- Parquet files that contain the relation `pages`. A segment's files are added with its events, in the same
-- transaction.
CREATE TABLE pageFile (
  path TEXT PRIMARY KEY,                -- relative to events/
  orgId TEXT,                           -- null: contains pages of several organizations
  minReceivedAt INTEGER NOT NULL,
  maxReceivedAt INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  sizeBytes INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('fresh', 'merged', 'hour', 'day'))
) STRICT;
